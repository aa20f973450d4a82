-- How far each partition of a log is finished, and when the log appended its last finished batch. Params: :log.
SELECT partition, next_offset, (extract(epoch FROM last_batch_appended_at) * 1000)::bigint AS last_appended_ms
FROM aggregator_checkpoints
WHERE log = :log
