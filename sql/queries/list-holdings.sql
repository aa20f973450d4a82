-- The owner of each partition of a log, and how far it is finished. Grain: one row per partition, by its number. Params: :log.
SELECT owner, kept_by, next_offset FROM aggregator_checkpoints WHERE log = :log ORDER BY partition
