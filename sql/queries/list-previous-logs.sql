-- Other logs with the number of their partitions, which is fixed when a log is first opened and has a checkpoint for each. One whose
-- checkpoints have a gap is left out. Params: :log (the log that is read now).
SELECT log, count(*) AS partition_count FROM aggregator_checkpoints
WHERE log <> :log
GROUP BY log HAVING count(*) = max(partition) + 1
ORDER BY log
