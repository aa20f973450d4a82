-- Appends one batch to each of the given partitions, which must be in ascending order: callers that lock in the same order
-- cannot deadlock. The lock of a partition is held until the commit is visible, so nobody can get offset n + 1 before
-- offset n can be read. The time of a batch is by this server's clock and never earlier than that of the previous batch.
-- Errors: MB001 the log has another id; MB002 the log does not have the partitions, or they are not in order.
CREATE OR REPLACE FUNCTION append_event_log(
  expected_log text, partitions integer[], record_counts integer[], batch_lengths text[], payloads text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  target integer;
  previous integer := -1;
  i integer;
BEGIN
  IF NOT EXISTS (SELECT FROM event_logs WHERE log_id = expected_log) THEN
    RAISE EXCEPTION 'the event log is no longer %', expected_log USING ERRCODE = 'MB001';
  END IF;
  -- A server or role may default to a weaker setting, with which a crash would lose acknowledged records.
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  FOR i IN 1 .. cardinality(partitions) LOOP
    target := partitions[i];
    PERFORM FROM event_log_partitions WHERE partition = target FOR NO KEY UPDATE;
    IF NOT FOUND OR target <= previous THEN
      RAISE EXCEPTION 'partition % is not of this log or out of order', target USING ERRCODE = 'MB002';
    END IF;
    -- A separate statement, so that its snapshot is taken after the lock and shows the batch of the previous holder.
    INSERT INTO event_log_batches (partition, end_offset, record_count, appended_at, lengths, payload)
    SELECT target, coalesce(last.end_offset, 0) + record_counts[i], record_counts[i],
           greatest(clock_timestamp()::timestamptz(3), last.appended_at), batch_lengths[i], payloads[i]
    FROM (SELECT) AS always
    LEFT JOIN LATERAL (
      SELECT b.end_offset, b.appended_at FROM event_log_batches b
      WHERE b.partition = target ORDER BY b.end_offset DESC LIMIT 1
    ) AS last ON true;
    previous := target;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION append_event_log FROM PUBLIC;
GRANT EXECUTE ON FUNCTION append_event_log TO minutebook_programs;
