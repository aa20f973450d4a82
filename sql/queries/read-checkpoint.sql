-- The checkpoint of one partition. Params: :log, :partition.
SELECT epoch, next_offset, intent_end, catalog_version, min_version, fold_version, digest,
       last_batch_start, last_batch_rows
FROM aggregator_checkpoints
WHERE log = :log AND partition = :partition
