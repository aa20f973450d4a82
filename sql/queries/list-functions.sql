-- The functions that were applied to this database. Grain: one row per file of sql/functions.
SELECT name, checksum, release FROM schema_functions ORDER BY name
