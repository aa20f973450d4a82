-- Removes every counted record of the log in PostgreSQL, whatever its retention. The last batch of each partition stays, since it
-- says where the log ends. Grain: one row per partition.
SELECT trim_event_log(c.partition, c.next_offset, interval '0', 2147483647)
FROM aggregator_checkpoints AS c JOIN event_logs AS l ON l.log_id = c.log
