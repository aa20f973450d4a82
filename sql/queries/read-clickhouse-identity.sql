-- The ClickHouse server and database that hold what was counted; none before the first aggregator has started.
SELECT identity FROM clickhouse_identity
