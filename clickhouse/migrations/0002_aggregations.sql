-- What a minute holds beside the number of its events, so that every aggregation of any longer window is read from minutes
-- (contract/usage-cell.ts). Types that do not need a column leave it at its default, which compresses to nearly nothing.
-- Decimal(76, 18): values are below 10^39, so 10^14 of the greatest, each times the milliseconds of a minute, add up exactly.
--
-- A SummingMergeTree with a list of columns sums these and keeps any value of the others (seen on 26.7), so the table becomes
-- an AggregatingMergeTree: a copy takes its place in one exchange. Aggregators must not write meanwhile: stop those of an
-- older release first. Every statement may be repeated: whatever was interrupted, usage_minute_v1 is whole.
ALTER TABLE usage_minute_v1
  ADD COLUMN IF NOT EXISTS unreadable_count UInt64,
  ADD COLUMN IF NOT EXISTS value_sum Decimal(76, 18),
  ADD COLUMN IF NOT EXISTS value_time_sum Decimal(76, 18),
  ADD COLUMN IF NOT EXISTS value_max Decimal(76, 18),
  ADD COLUMN IF NOT EXISTS latest Tuple(at_ms Int64, received_ms Int64, event_id String, value Decimal(76, 18)),
  ADD COLUMN IF NOT EXISTS uniques Array(FixedString(16));

DROP TABLE IF EXISTS usage_minute_copy SYNC;

-- Usage per meter generation, customer and UTC minute. Rows are deltas: always read with aggregates and GROUP BY.
-- Two kinds of rows are no usage: one marker a batch (tenant_id '', meter_id '#batch', generation 0, minute 1970-01-01, source
-- '<log>:<partition>', group_key '<start>:<end>', event_count 1) says that the batch is in, and a sum above 1 would be a double
-- insert; and one row per batch, environment and hour of receipt (meter_id '#accepted', customer_key '', minute = the hour,
-- source and group_key as the marker's) says how many events were decoded, counted before anything else happens to them.
CREATE TABLE usage_minute_copy
(
  tenant_id LowCardinality(String),
  environment_id LowCardinality(String),
  customer_key String,
  meter_id LowCardinality(String),
  generation UInt64,
  minute DateTime64(0, 'UTC') CODEC(DoubleDelta, ZSTD),
  source LowCardinality(String),
  -- Value of the property that the meter groups by; empty for meters without one.
  group_key String,
  event_count SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
  -- Events whose value was taken as 0: property missing, no number, out of range, expression failed.
  unreadable_count SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
  value_sum SimpleAggregateFunction(sum, Decimal(76, 18)) CODEC(ZSTD),
  -- Sum of value times milliseconds from the start of the minute (WEIGHTED_SUM).
  value_time_sum SimpleAggregateFunction(sum, Decimal(76, 18)) CODEC(ZSTD),
  -- Values are not below 0 where this is read, so the default says nothing.
  value_max SimpleAggregateFunction(max, Decimal(76, 18)) CODEC(ZSTD),
  -- The greatest by timestamp, receipt and id wins (LATEST).
  latest SimpleAggregateFunction(max,
    Tuple(at_ms Int64, received_ms Int64, event_id String, value Decimal(76, 18))) CODEC(ZSTD),
  -- First 128 bits of the SHA-256 of each text (COUNT_UNIQUE).
  uniques SimpleAggregateFunction(groupUniqArrayArray, Array(FixedString(16))) CODEC(ZSTD)
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, environment_id, customer_key, meter_id, generation, minute, source, group_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

INSERT INTO usage_minute_copy SELECT * FROM usage_minute_v1;

EXCHANGE TABLES usage_minute_copy AND usage_minute_v1;

DROP TABLE usage_minute_copy SYNC;
