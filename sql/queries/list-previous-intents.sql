-- Batches of other logs that were intended and not finished, in order. Params: :log (the log that is read now).
SELECT log, partition FROM aggregator_checkpoints
WHERE log <> :log AND intent_end IS NOT NULL
ORDER BY log, partition
