-- Corrections of events (docs/architecture.md D-026). A row says how one event counts under one correction; the event itself and the
-- minutes are never changed. The number is that of one attempt to prepare the correction: nobody reads rows of a number that PostgreSQL
-- does not name as applied, so that an attempt that was cut short does no harm, and to apply or revert is one update there.
-- Safe while programs of the previous release run: none of them reads or writes these tables.
CREATE TABLE IF NOT EXISTS event_corrections_v1
(
  tenant_id LowCardinality(String),
  environment_id LowCardinality(String),
  -- The event as it was sent: its place in the order of events_v1. Of an added event, log_id is empty.
  event_name LowCardinality(String),
  customer_key String CODEC(ZSTD),
  timestamp DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  log_id LowCardinality(String),
  log_partition UInt32 CODEC(ZSTD),
  log_offset UInt64 CODEC(ZSTD),
  record_index UInt32 CODEC(ZSTD),
  correction UInt64 CODEC(ZSTD),
  -- `amended`, `withdrawn`, or `added`: an event of a backfill that is not sent yet, which only its preview counts.
  effect LowCardinality(String),
  event_id String CODEC(ZSTD),
  source LowCardinality(String),
  received_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  is_timestamp_given Bool,
  -- Of the event: rows go with the month of append of their events.
  appended_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  -- As the event counts instead; without meaning for one that is withdrawn.
  new_customer_key String CODEC(ZSTD),
  new_customer_id Nullable(String) CODEC(ZSTD),
  new_timestamp DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  new_properties Map(LowCardinality(String), String) CODEC(ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (tenant_id, environment_id, event_name, customer_key, timestamp, log_partition, log_offset, record_index, correction)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- The minutes of customers in which a correction changes what counts: of the events as they were, and as they count now. Readers
-- take these from the events, and all others from usage_minute_v1.
CREATE TABLE IF NOT EXISTS corrected_minutes_v1
(
  tenant_id LowCardinality(String),
  environment_id LowCardinality(String),
  event_name LowCardinality(String),
  customer_key String CODEC(ZSTD),
  minute DateTime64(0, 'UTC') CODEC(DoubleDelta, ZSTD),
  correction UInt64 CODEC(ZSTD)
)
ENGINE = MergeTree
ORDER BY (tenant_id, environment_id, event_name, customer_key, minute, correction)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
