-- How far each partition of a log is finished, and whether another log has a batch that was intended and not finished.
-- Params: :log.
SELECT log <> :log AS is_of_other_log, partition, next_offset
FROM aggregator_checkpoints
WHERE log = :log OR intent_end IS NOT NULL
