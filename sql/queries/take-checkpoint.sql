-- Takes a partition: whoever had it is fenced from here on. Returns the row as its new owner finds it.
-- Params: :log, :partition, :gate (highest epoch that ClickHouse has seen; it may be ahead after a restore).
UPDATE aggregator_checkpoints
SET epoch = greatest(epoch, :gate::bigint) + 1, updated_at = now()
WHERE log = :log AND partition = :partition
RETURNING epoch, next_offset, pending_end, catalog_version, min_version, fold_version, digest,
          last_batch_start, last_batch_rows
