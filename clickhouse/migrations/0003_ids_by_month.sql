-- Ids by month of append instead of by day. An id may lie in any part, for ever, so a look-up costs as much as there are parts,
-- and a table partition keeps at least one part each. Copies rows: stop every aggregator first; the migration refuses to run while
-- one lives (clickhouse/guard-copies.ts). It needs as much free disk as the ids take. Cut short, it begins anew: the copy is
-- dropped before it is made, and after the exchange the table is copied from itself.
DROP TABLE IF EXISTS event_ids_by_month SYNC SETTINGS max_table_size_to_drop = 0;

CREATE TABLE event_ids_by_month
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
  -- When the log appended the record. It chooses the table partition.
  appended_at DateTime64(3, 'UTC') CODEC(T64, ZSTD),
  INDEX log_offset_range log_offset TYPE minmax GRANULARITY 8
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_id, log_partition, id_hash)
-- A month that has had no insert for a day becomes one part.
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1,
  min_age_to_force_merge_seconds = 86400, min_age_to_force_merge_on_partition_only = 1;

-- A block may hold ids of any number of months.
INSERT INTO event_ids_by_month
SELECT * FROM event_ids_v1
SETTINGS max_partitions_per_insert_block = 0;

EXCHANGE TABLES event_ids_by_month AND event_ids_v1;

DROP TABLE event_ids_by_month SYNC SETTINGS max_table_size_to_drop = 0;
