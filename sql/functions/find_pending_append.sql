-- When the log in PostgreSQL was asked, and when its oldest unfinished batch was appended, NULL for none. `is_known` is false while
-- there is no log.
-- Asked at the beginning of the statement: what is appended between that and the reading is not before it.
CREATE OR REPLACE FUNCTION find_pending_append()
RETURNS TABLE (asked_at timestamptz(3), is_known boolean, pending_since timestamptz(3)) LANGUAGE sql AS $$
  SELECT statement_timestamp()::timestamptz(3), count(p.partition) > 0, min(pending.appended_at)
  FROM (SELECT) AS always
  LEFT JOIN event_logs l ON true
  LEFT JOIN event_log_partitions p ON l.log_id IS NOT NULL
  LEFT JOIN aggregator_checkpoints c ON c.log = l.log_id AND c.partition = p.partition
  LEFT JOIN LATERAL (
    SELECT b.appended_at FROM event_log_batches b
    WHERE b.partition = p.partition AND b.end_offset > coalesce(c.next_offset, 0)
    ORDER BY b.end_offset LIMIT 1
  ) AS pending ON true
$$;
REVOKE ALL ON FUNCTION find_pending_append FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_pending_append TO minutebook_programs;
