-- How many events retention has removed, or is about to remove, from events_v1 (D-020): so that the reconciliation stays exact,
-- and a question that needs removed events is refused. A day of append is counted before its first row is removed, and it may
-- be counted any number of times: a count that is made while rows are being removed is never the greater one.
-- Safe while programs of the previous release run.
CREATE TABLE IF NOT EXISTS expired_events_v1
(
  tenant_id LowCardinality(String),
  environment_id LowCardinality(String),
  event_name LowCardinality(String),
  -- Of the events' own timestamps. DateTime ends in 2106.
  hour DateTime64(0, 'UTC') CODEC(DoubleDelta, ZSTD),
  received_hour DateTime64(0, 'UTC') CODEC(DoubleDelta, ZSTD),
  -- The day on which the log appended them; its month is the table partition that is removed.
  append_day Date32 CODEC(DoubleDelta, ZSTD),
  event_count SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD)
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, environment_id, event_name, hour, received_hour, append_day)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
