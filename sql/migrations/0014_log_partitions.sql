-- The number of partitions with which a log in Kafka was first opened. An event's partition follows from its id and this number,
-- and a duplicate is looked for in that partition only. So partitions that are added to a topic later are not used
-- (docs/architecture.md 3.4). Programs of the previous release may run.
CREATE TABLE event_log_partition_counts (
  log text PRIMARY KEY,
  partition_count integer NOT NULL CHECK (partition_count > 0),
  created_at timestamptz(3) NOT NULL DEFAULT now()
);
INSERT INTO event_log_partition_counts (log, partition_count)
SELECT log, count(*) FROM aggregator_checkpoints WHERE log NOT IN (SELECT log_id FROM event_logs) GROUP BY log;
GRANT SELECT, INSERT ON event_log_partition_counts TO minutebook_programs;
