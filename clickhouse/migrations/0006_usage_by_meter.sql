-- Minutes by meter first, then by customer. Most questions are about one meter: what a customer used of it, what everybody used of
-- it, and whether its minutes agree with its events. While the customer stood first, the rows of one meter were spread over the
-- whole table: with 150 meters, everybody's usage of one took ten times as long (docs/architecture.md D-022). A customer's usage of
-- many meters is now read in more places; small granules keep what is read in each of them small.
-- This file copies rows, so every aggregator must be stopped first: it refuses to run while one lives (clickhouse/guard-copies.ts).
-- It needs as much free disk as the minutes take. When it was cut short, it begins again: the copy is dropped before it is made, and
-- after the exchange the table is copied from itself.
DROP TABLE IF EXISTS usage_by_meter SYNC SETTINGS max_table_size_to_drop = 0;

-- The same columns, with their types and compression.
CREATE TABLE usage_by_meter AS usage_minute_v1
ENGINE = AggregatingMergeTree
ORDER BY (tenant_id, environment_id, meter_id, customer_key, generation, minute, source, group_key)
SETTINGS index_granularity = 2048, fsync_after_insert = 1, fsync_part_directory = 1;

INSERT INTO usage_by_meter SELECT * FROM usage_minute_v1;

EXCHANGE TABLES usage_by_meter AND usage_minute_v1;

DROP TABLE usage_by_meter SYNC SETTINGS max_table_size_to_drop = 0;
