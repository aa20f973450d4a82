-- Since when any process of ingest may hold events of this log; NULL when that is not known: none says so, one of another log lives, or a
-- program of an earlier release may accept events. Read it before the ends of the log.
CREATE OR REPLACE FUNCTION find_held_since(of_log text) RETURNS timestamptz(3) LANGUAGE sql AS $$
  SELECT CASE WHEN bool_and(process.log = of_log) AND NOT EXISTS (
      SELECT FROM unregistered_programs AS earlier WHERE earlier.seen_at > clock_timestamp() - interval '15 minutes')
    THEN min(process.held_since) END
  FROM ingest_processes AS process
  WHERE process.reported_at > clock_timestamp() - process.silent_max
$$;
REVOKE ALL ON FUNCTION find_held_since FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_held_since TO minutebook_programs;
