-- Makes the checkpoint rows of a log that has none yet. Grain: one row a partition; existing rows stay.
-- Params: :log, :partition_count. Locks the catalog counter, so that no meter is activated meanwhile: a row made after an
-- activation starts with its version, and its live stream then owns the partition from offset 0.
WITH catalog AS (SELECT version FROM catalog_counter FOR UPDATE)
INSERT INTO aggregator_checkpoints (log, partition, catalog_version, min_version)
SELECT :log, partition, catalog.version, catalog.version
FROM catalog, generate_series(0, :partition_count::integer - 1) AS partition
ON CONFLICT (log, partition) DO NOTHING
