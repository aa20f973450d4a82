-- The functions, triggers and views of sql/functions that were applied to this database, and the release that did so last
-- (docs/operations.md 10). Programs of the previous release may run: they do not look.
CREATE TABLE schema_functions (
  name text PRIMARY KEY,
  checksum text NOT NULL,
  release text NOT NULL,
  applied_at timestamptz(3) NOT NULL DEFAULT now()
);
GRANT SELECT ON schema_functions TO minutebook_programs;
