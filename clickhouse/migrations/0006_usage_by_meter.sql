-- Minutes by meter before customer. What is asked for most is about one meter: a customer's usage of it, everybody's, and its recount.
-- With the customer first, the rows of one meter lay in every part of the table: with 150 meters everybody's usage of one took 11
-- times as long (docs/architecture.md D-022). A customer's usage of many meters has more places to read now, hence the small granules.
-- Copies rows: stop every aggregator first; the migration refuses to run while one lives (clickhouse/guard-copies.ts). It needs as
-- much free disk as the minutes take. Cut short, it begins anew: the copy is dropped before it is made, and after the exchange the
-- table is copied from itself.
DROP TABLE IF EXISTS usage_by_meter SYNC SETTINGS max_table_size_to_drop = 0;

-- The columns of 0001_usage.sql and 0002_least_value.sql.
CREATE TABLE usage_by_meter
(
  tenant_id LowCardinality(String),
  environment_id LowCardinality(String),
  customer_key String,
  meter_id LowCardinality(String),
  generation UInt64,
  minute DateTime64(0, 'UTC') CODEC(DoubleDelta, ZSTD),
  source LowCardinality(String),
  -- Text of the property that the meter groups by; empty for meters without one.
  group_key String,
  event_count SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
  -- Events whose value was taken as 0: property missing, no number, out of range, expression failed.
  unreadable_count SimpleAggregateFunction(sum, UInt64) CODEC(T64, ZSTD),
  value_sum SimpleAggregateFunction(sum, Decimal(76, 18)) CODEC(ZSTD),
  -- Sum of value times milliseconds from the start of the minute (WEIGHTED_SUM).
  value_time_sum SimpleAggregateFunction(sum, Decimal(76, 18)) CODEC(ZSTD),
  -- Values are never negative, so the default of 0 changes no maximum (MAX).
  value_max SimpleAggregateFunction(max, Decimal(76, 18)) CODEC(ZSTD),
  -- The event with the greatest timestamp, receipt and id (LATEST).
  latest SimpleAggregateFunction(max,
    Tuple(at_ms Int64, received_ms Int64, event_id String, value Decimal(76, 18))) CODEC(ZSTD),
  -- First 128 bits of the SHA-256 of each text (COUNT_UNIQUE).
  uniques SimpleAggregateFunction(groupUniqArrayArray, Array(FixedString(16))) CODEC(ZSTD),
  -- The least value of a minute (MIN). NULL stands for no value.
  value_min SimpleAggregateFunction(min, Nullable(Decimal(76, 18))) CODEC(ZSTD)
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, environment_id, meter_id, customer_key, generation, minute, source, group_key)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1;

INSERT INTO usage_by_meter SELECT * FROM usage_minute_v1;

EXCHANGE TABLES usage_by_meter AND usage_minute_v1;

DROP TABLE usage_by_meter SYNC SETTINGS max_table_size_to_drop = 0;
