-- Gives the log a new id. Must be called after this database was restored from a backup, since offsets that were given out
-- after the backup will be given out again. Programs with the old id are refused until they are restarted.
-- A log that is in use stays in use under its new id.
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
REVOKE ALL ON FUNCTION renew_event_log_id FROM PUBLIC;
