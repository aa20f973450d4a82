-- Removes at most batches_max batches that end at or below the finished offset and are older than the retention, but never
-- the last batch of the partition. Returns how many were removed.
CREATE OR REPLACE FUNCTION trim_event_log(target integer, finished_offset bigint, keep interval, batches_max integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  new_start bigint;
  removed integer;
BEGIN
  SELECT max(old.end_offset) INTO new_start FROM (
    SELECT b.end_offset, b.appended_at FROM event_log_batches b
    WHERE b.partition = target AND b.end_offset <= finished_offset
      AND b.end_offset < (
        SELECT l.end_offset FROM event_log_batches l
        WHERE l.partition = target ORDER BY l.end_offset DESC LIMIT 1)
    ORDER BY b.end_offset LIMIT batches_max
  ) AS old
  WHERE old.appended_at < clock_timestamp() - keep;
  IF new_start IS NULL THEN
    RETURN 0;
  END IF;
  DELETE FROM event_log_batches b WHERE b.partition = target AND b.end_offset <= new_start;
  GET DIAGNOSTICS removed = ROW_COUNT;
  -- This comes last, because appends to the partition wait from here to the commit.
  UPDATE event_log_partitions p SET start_offset = new_start
  WHERE p.partition = target AND p.start_offset < new_start;
  RETURN removed;
END
$$;
REVOKE ALL ON FUNCTION trim_event_log FROM PUBLIC;
GRANT EXECUTE ON FUNCTION trim_event_log TO minutebook_programs;
