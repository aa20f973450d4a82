-- Usage: raw events, their ids, minutes, duplicates and dead letters. The aggregator is the only writer.
-- fsync on every insert: what an intent counts on must survive a power failure (docs/protocol-model: fix.power_nofsync).

-- Highest epoch per partition. An insert reads it and refuses itself when its own epoch is older.
CREATE TABLE IF NOT EXISTS ingest_gate_v1
(
  log_id String,
  log_partition UInt32,
  epoch SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY (log_id, log_partition)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Every distinct accepted event, once. Ordered by the timestamp itself and not by its hour: toStartOfHour gives a DateTime,
-- which ends in 2106 and wraps silently, so that a range of timestamps beyond would miss rows (seen on 26.7).
CREATE TABLE IF NOT EXISTS events_v1
(
  tenant_id LowCardinality(String),
  environment_id LowCardinality(String),
  event_name LowCardinality(String),
  -- `e:<external customer id>` or `i:<customer id>`; see customerKeyOfEvent.
  customer_key String CODEC(ZSTD),
  timestamp DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  event_id String CODEC(ZSTD),
  customer_id Nullable(String) CODEC(ZSTD),
  source LowCardinality(String),
  properties Map(LowCardinality(String), String) CODEC(ZSTD),
  received_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  is_timestamp_given Bool,
  log_id LowCardinality(String),
  log_partition UInt32 CODEC(ZSTD),
  log_offset UInt64 CODEC(ZSTD),
  record_index UInt32 CODEC(ZSTD),
  -- When the log appended the record. It chooses the table partition, so that no client's timestamp can make thousands of parts.
  appended_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  INDEX log_offset_range log_offset TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (tenant_id, environment_id, event_name, customer_key, timestamp, log_partition, log_offset, record_index)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Id of every distinct event, for exact de-duplication. The table is ordered by a hash, so the other
-- columns have neither runs nor steady steps: T64 takes 32 bytes an id where DoubleDelta takes 38; 24 of them are hashes.
CREATE TABLE IF NOT EXISTS event_ids_v1
(
  log_id LowCardinality(String),
  log_partition UInt32,
  -- First 128 bits of the SHA-256 of the event key.
  id_hash FixedString(16),
  log_offset UInt64 CODEC(T64, ZSTD),
  record_index UInt32 CODEC(T64, ZSTD),
  -- A duplicate with another payload hash is a conflict.
  payload_hash FixedString(8),
  timestamp DateTime64(3, 'UTC') CODEC(T64, ZSTD),
  is_timestamp_given Bool,
  appended_at DateTime64(3, 'UTC') CODEC(T64, ZSTD),
  INDEX log_offset_range log_offset TYPE minmax GRANULARITY 8
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(appended_at)
ORDER BY (log_id, log_partition, id_hash)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- Usage per meter generation, customer and UTC minute. Rows are deltas: always read with aggregates and GROUP BY. A minute
-- holds what every aggregation of any longer window is read from (contract/usage-cell.ts). Types that do not need a column
-- leave it at its default, which compresses to nearly nothing. Decimal(76, 18): values are below 10^39, so 10^14 of the
-- greatest, each times the milliseconds of a minute, add up exactly.
-- Two kinds of rows hold no usage: one marker per batch (tenant_id '', meter_id '#batch', generation 0, minute 1970-01-01,
-- source '<log>:<partition>', group_key '<start>:<end>', event_count 1) shows that the batch is written, where a sum above 1
-- would mean a double insert; and one row per batch, environment and hour of receipt (meter_id '#accepted', customer_key '',
-- minute = the hour, source and group_key as in the marker) holds how many events were decoded, duplicates included.
CREATE TABLE IF NOT EXISTS usage_minute_v1
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
  uniques SimpleAggregateFunction(groupUniqArrayArray, Array(FixedString(16))) CODEC(ZSTD)
)
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, environment_id, customer_key, meter_id, generation, minute, source, group_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Accepted events whose id had been counted before. The key is the place in the log, so writing a row twice is harmless.
CREATE TABLE IF NOT EXISTS event_duplicates_v1
(
  log_id LowCardinality(String),
  log_partition UInt32,
  log_offset UInt64,
  record_index UInt32,
  tenant_id LowCardinality(String),
  environment_id LowCardinality(String),
  event_id String,
  -- The duplicate differs from the event that counts (docs/domain.md 7.1); only then is its payload kept.
  is_conflict Bool,
  payload String CODEC(ZSTD),
  received_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  appended_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  -- The table is ordered by place in the log, and is asked for one id and for a time of receipt: granules that hold neither
  -- are skipped. One granule in a hundred is read in vain for an id.
  INDEX event_id_bloom event_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX received_range received_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_id, log_partition, log_offset, record_index)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Log records that cannot be decoded, with all that is needed to replay them.
CREATE TABLE IF NOT EXISTS dead_letters_v1
(
  log_id LowCardinality(String),
  log_partition UInt32,
  log_offset UInt64,
  reason LowCardinality(String),
  payload String CODEC(ZSTD),
  appended_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_id, log_partition, log_offset)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
