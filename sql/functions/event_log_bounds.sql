-- Start and end of every partition. The last batch of a partition is never removed, so its end stays known.
CREATE OR REPLACE FUNCTION event_log_bounds()
RETURNS TABLE (log_id text, partition integer, start_offset bigint, end_offset bigint)
LANGUAGE sql STABLE AS $$
  SELECT l.log_id, p.partition, p.start_offset, coalesce((
    SELECT b.end_offset FROM event_log_batches b
    WHERE b.partition = p.partition ORDER BY b.end_offset DESC LIMIT 1), 0)
  FROM event_log_partitions p CROSS JOIN event_logs l
  ORDER BY p.partition
$$;
REVOKE ALL ON FUNCTION event_log_bounds FROM PUBLIC;
GRANT EXECUTE ON FUNCTION event_log_bounds TO minutebook_programs;
