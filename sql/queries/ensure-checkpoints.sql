-- Creates the missing checkpoints of a log. Grain: one row per partition; existing rows stay.
-- Params: :log, :starts (JSON array: the first offset that the log holds, by partition). Locks the catalog counter, so that no
-- meter is activated meanwhile: a checkpoint created after an activation starts with its catalog version, and the live stream
-- of that meter counts the partition from its first offset. Returns the created rows.
WITH catalog AS (SELECT version FROM catalog_counter FOR UPDATE)
INSERT INTO aggregator_checkpoints (log, partition, next_offset, catalog_version, min_version)
SELECT :log, start.ordinality - 1, start.value::bigint, catalog.version, catalog.version
FROM catalog, json_array_elements_text(:starts::json) WITH ORDINALITY AS start (value, ordinality)
ON CONFLICT (log, partition) DO NOTHING
RETURNING partition, next_offset
