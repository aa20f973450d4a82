-- Which event log the programs use. Without it a process with wrong settings (KAFKA_BROKERS forgotten, another topic) began on its own
-- log beside the others, and ended what they had begun. Now the first program takes its log into use, every program on another log
-- is refused, and `minutebook log close` makes room for the next one. Programs of the previous release may run: they do not look.

-- At most one row.
CREATE TABLE log_in_use (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  log text NOT NULL,
  since timestamptz(3) NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON log_in_use TO minutebook_programs;

-- As in 0002; a log that is in use stays in use under its new id.
CREATE OR REPLACE FUNCTION renew_event_log_id() RETURNS text LANGUAGE sql AS $$
  WITH former AS (
    SELECT log_id FROM event_logs
  ), renewed AS (
    UPDATE event_logs SET log_id = new_event_log_id() RETURNING log_id
  ), followed AS (
    UPDATE log_in_use SET log = renewed.log_id FROM former, renewed WHERE log_in_use.log = former.log_id
  )
  SELECT log_id FROM renewed
$$;
