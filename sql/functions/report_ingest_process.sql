-- Notes since when a process of ingest may hold events, and that it lives. Its first report is durable before the answer, since it accepts
-- events from then on; later ones need not be, because an earlier instant is as true. Removes processes that ended long ago without a word.
CREATE OR REPLACE FUNCTION report_ingest_process(process text, of_log text, since timestamptz, silent interval) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE ingest_processes AS known
  SET held_since = greatest(known.held_since, since), reported_at = clock_timestamp()
  WHERE known.id = process;
  IF FOUND THEN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN;
  END IF;
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  DELETE FROM ingest_processes AS old WHERE old.reported_at < clock_timestamp() - old.silent_max - interval '1 day';
  INSERT INTO ingest_processes (id, log, held_since, reported_at, silent_max)
  VALUES (process, of_log, since, clock_timestamp(), silent)
  ON CONFLICT (id) DO UPDATE SET reported_at = clock_timestamp();
END
$$;
REVOKE ALL ON FUNCTION report_ingest_process FROM PUBLIC;
GRANT EXECUTE ON FUNCTION report_ingest_process TO minutebook_programs;
