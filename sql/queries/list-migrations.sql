-- The migrations that were applied to this database. Grain: one row per migration.
SELECT number, name, checksum FROM schema_migrations ORDER BY number
