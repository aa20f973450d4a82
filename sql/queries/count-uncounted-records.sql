-- count-uncounted-records
-- Records of the log in PostgreSQL that no checkpoint has passed. Of a partition without a checkpoint these are all that it holds.
-- No row when there is no log.
SELECT l.log_id, coalesce(sum(greatest(0, b.end_offset - coalesce(c.next_offset, b.start_offset))), 0)::bigint AS records
FROM event_logs l
LEFT JOIN event_log_bounds() b ON true
LEFT JOIN aggregator_checkpoints c ON c.log = l.log_id AND c.partition = b.partition
GROUP BY l.log_id
