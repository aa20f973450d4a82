-- count-uncounted-records
-- How many records of the log in PostgreSQL are not counted yet. In a partition without a checkpoint no record is.
-- No row when there is no log.
SELECT l.log_id, coalesce(sum(greatest(0, b.end_offset - coalesce(c.next_offset, b.start_offset))), 0)::bigint AS records
FROM event_logs l
LEFT JOIN event_log_bounds() b ON true
LEFT JOIN aggregator_checkpoints c ON c.log = l.log_id AND c.partition = b.partition
GROUP BY l.log_id
