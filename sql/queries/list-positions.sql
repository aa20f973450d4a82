-- list-positions
-- How far each partition of a log is counted, and the end of a batch that was begun. Grain: one row per partition. Params: :log.
SELECT partition, next_offset, intent_end FROM aggregator_checkpoints WHERE log = :log ORDER BY partition
