-- Makes the checkpoint rows of a log that has none yet. Grain: one row a partition; existing rows stay.
-- Params: :log, :starts (JSON array: the first offset that the log holds, by partition). Locks the catalog counter, so that no
-- meter is activated meanwhile: a row made after an activation starts with its version, and the meter's live stream then owns
-- the partition from its first offset. Returns the rows made.
WITH catalog AS (SELECT version FROM catalog_counter FOR UPDATE)
INSERT INTO aggregator_checkpoints (log, partition, next_offset, catalog_version, min_version)
SELECT :log, start.ordinality - 1, start.value::bigint, catalog.version, catalog.version
FROM catalog, json_array_elements_text(:starts::json) WITH ORDINALITY AS start (value, ordinality)
ON CONFLICT (log, partition) DO NOTHING
RETURNING partition, next_offset
