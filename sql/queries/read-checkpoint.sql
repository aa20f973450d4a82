-- The checkpoint of one partition. Params: :log, :partition.
SELECT epoch, next_offset, intent_end, catalog_version, min_version, fold_version, digest,
       last_batch_start, last_batch_rows,
       (extract(epoch FROM last_batch_appended_at) * 1000)::bigint AS last_batch_appended_ms,
       coalesce((SELECT erased.events FROM erased_batches AS erased WHERE erased.log = aggregator_checkpoints.log
         AND erased.partition = aggregator_checkpoints.partition AND erased.batch_start = last_batch_start), 0) AS last_batch_erased
FROM aggregator_checkpoints
WHERE log = :log AND partition = :partition
