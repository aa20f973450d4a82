-- Which dead letters were replayed, when and by whom. The letters themselves are in ClickHouse (dead_letters_v1).
CREATE TABLE dead_letter_replays (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  -- The environment that the record names once it can be decoded.
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  log text NOT NULL,
  partition integer NOT NULL,
  log_offset bigint NOT NULL,
  -- Events that were appended to the log again.
  events integer NOT NULL CHECK (events >= 0),
  replayed_at timestamptz(3) NOT NULL,
  -- The user of the key, or `operator` for the command line.
  replayed_by text NOT NULL
);
CREATE INDEX dead_letter_replays_of_letter ON dead_letter_replays (log, partition, log_offset);
SELECT isolate_environment('dead_letter_replays');
