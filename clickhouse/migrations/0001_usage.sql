-- Usage: raw events, their ids, minutes, and what was refused or repeated. The aggregator is the only writer.
-- fsync on every insert: a part that an intent vouches for must survive a power cut (model: fix.power_nofsync).

-- Highest epoch per partition; an insert of an older epoch refuses itself by reading it.
CREATE TABLE IF NOT EXISTS ingest_gate_v1
(
  log_id String,
  log_partition UInt32,
  epoch SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY (log_id, log_partition)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Every distinct accepted event, once.
CREATE TABLE IF NOT EXISTS events_v1
(
  tenant_id LowCardinality(String),
  environment_id LowCardinality(String),
  event_name LowCardinality(String),
  -- `e:<external customer id>` or `i:<customer id>`; see customerKeyOfEvent.
  customer_key String,
  timestamp DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  event_id String,
  customer_id Nullable(String),
  source LowCardinality(String),
  properties Map(LowCardinality(String), String) CODEC(ZSTD),
  received_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  is_timestamp_given Bool,
  log_id LowCardinality(String),
  log_partition UInt32,
  log_offset UInt64,
  record_index UInt32,
  -- When the log appended the record: chooses the table partition, so no client's timestamp can make thousands of parts.
  appended_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  INDEX log_offset_range log_offset TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (tenant_id, environment_id, event_name, customer_key, toStartOfHour(timestamp),
          log_partition, log_offset, record_index)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Identity of every event ever counted; the exact side of the de-duplication.
CREATE TABLE IF NOT EXISTS event_ids_v1
(
  log_id LowCardinality(String),
  log_partition UInt32,
  -- First 128 bits of the SHA-256 of the event key.
  id_hash FixedString(16),
  log_offset UInt64,
  record_index UInt32,
  -- What a repeat is compared with, to tell a plain repeat from a conflict.
  payload_hash FixedString(8),
  timestamp DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  is_timestamp_given Bool,
  appended_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  INDEX log_offset_range log_offset TYPE minmax GRANULARITY 8
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(appended_at)
ORDER BY (log_id, log_partition, id_hash)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1;

-- Usage per meter generation, customer and UTC minute. Rows are deltas: always read with sum() and GROUP BY.
-- One marker row a batch (tenant_id '', meter_id '#batch', generation 0, minute 1970-01-01, source '<log>:<partition>',
-- group_key '<start>:<end>', event_count 1) says that the batch is in; a sum above 1 would be a double insert.
CREATE TABLE IF NOT EXISTS usage_minute_v1
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
  event_count UInt64 CODEC(T64, ZSTD)
)
ENGINE = SummingMergeTree(event_count)
ORDER BY (tenant_id, environment_id, customer_key, meter_id, generation, minute, source, group_key)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Accepted events whose id had been counted before: nothing is silent. Keyed by coordinates, so writing twice is harmless.
CREATE TABLE IF NOT EXISTS event_repeats_v1
(
  log_id LowCardinality(String),
  log_partition UInt32,
  log_offset UInt64,
  record_index UInt32,
  tenant_id LowCardinality(String),
  environment_id LowCardinality(String),
  event_id String,
  -- The repeat differs from the event that counts (domain.md 7.1); only then is its payload kept.
  is_conflict Bool,
  payload String CODEC(ZSTD),
  received_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  appended_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_id, log_partition, log_offset, record_index)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Log records that are no events of a known form, with all that is needed to replay them.
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
