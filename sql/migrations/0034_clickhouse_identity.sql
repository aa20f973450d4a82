-- Which ClickHouse server and database hold what is counted: `<UUID of the server>/<UUID of the database>`. The first aggregator
-- writes it, and every later one is refused on another. `minutebook clickhouse accept` and `minutebook restore` change it.
-- Programs of the previous release may run: they do not read it.
CREATE TABLE clickhouse_identity (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  identity text NOT NULL,
  noted_at timestamptz(3) NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON clickhouse_identity TO minutebook_programs;
