-- Generations of meters that ClickHouse has seen are never given again, although PostgreSQL was set back to before it gave them.
-- Params: :greatest (generation that ClickHouse has seen; 0 for none).
SELECT setval(pg_get_serial_sequence('meter_versions', 'generation'), :greatest::bigint)
WHERE :greatest::bigint > coalesce(pg_sequence_last_value(pg_get_serial_sequence('meter_versions', 'generation')::regclass), 0)
