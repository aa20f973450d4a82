-- The identity of the log. The first caller creates it with this number of partitions, which later calls do not change.
CREATE OR REPLACE FUNCTION open_event_log(partitions_wanted integer)
RETURNS TABLE (log_id text, partition_count integer) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO event_logs AS l (log_id, partition_count) VALUES (new_event_log_id(), partitions_wanted)
  ON CONFLICT DO NOTHING;
  IF FOUND THEN
    INSERT INTO event_log_partitions (partition) SELECT generate_series(0, partitions_wanted - 1);
  END IF;
  RETURN QUERY SELECT l.log_id, l.partition_count FROM event_logs l;
END
$$;
REVOKE ALL ON FUNCTION open_event_log FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_event_log TO minutebook_programs;
