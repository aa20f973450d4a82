-- Batches in ascending order from the one that holds from_offset, up to the one with which the payloads reach bytes_max.
-- No rows when the log has another id.
CREATE OR REPLACE FUNCTION read_event_log(
  expected_log text, source integer, from_offset bigint, batches_max integer, bytes_max bigint
) RETURNS SETOF event_log_batches LANGUAGE plpgsql STABLE AS $$
DECLARE
  batch event_log_batches;
  bytes bigint := 0;
BEGIN
  FOR batch IN
    SELECT b.* FROM event_log_batches b
    WHERE b.partition = source AND b.end_offset > from_offset
      AND EXISTS (SELECT FROM event_logs l WHERE l.log_id = expected_log)
    ORDER BY b.end_offset LIMIT batches_max
  LOOP
    RETURN NEXT batch;
    bytes := bytes + octet_length(batch.payload);
    EXIT WHEN bytes >= bytes_max;
  END LOOP;
END
$$;
REVOKE ALL ON FUNCTION read_event_log FROM PUBLIC;
GRANT EXECUTE ON FUNCTION read_event_log TO minutebook_programs;
