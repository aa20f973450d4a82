-- Takes a partition: from now on its previous owner is fenced. Returns the row as the new owner finds it, and none when the
-- partition belongs to another process by now: a process that was paused or cut off must not fence its successor.
-- Params: :log, :partition, :member_id, :gate (highest epoch that ClickHouse has seen; it is ahead after PostgreSQL was
-- restored).
UPDATE aggregator_checkpoints
SET epoch = greatest(epoch, :gate::bigint) + 1, updated_at = now()
WHERE log = :log AND partition = :partition AND owner = :member_id
RETURNING epoch, next_offset, intent_end, catalog_version, min_version, fold_version, digest,
          last_batch_start, last_batch_rows,
          (extract(epoch FROM last_batch_appended_at) * 1000)::bigint AS last_batch_appended_ms,
          coalesce((SELECT erased.events FROM erased_batches AS erased WHERE erased.log = aggregator_checkpoints.log
            AND erased.partition = aggregator_checkpoints.partition AND erased.batch_start = last_batch_start), 0) AS last_batch_erased
