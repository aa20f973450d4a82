-- Batches that were begun and not finished, of all logs, in order. Grain: one row per partition of a log.
SELECT log, partition FROM aggregator_checkpoints
WHERE intent_end IS NOT NULL
ORDER BY log, partition
