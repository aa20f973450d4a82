-- Moves a checkpoint that was set back behind the batches that ClickHouse holds, as one finished batch [start, end_offset). Refused
-- (no row) when another has taken the partition, or when a meter was made or changed since the last intent that is known: whether the
-- batches counted on it is not.
-- Params: :log, :partition, :epoch, :start, :end_offset, :rows (events of the batches), :appended_at_ms (of the first of them, null for none).
UPDATE aggregator_checkpoints
SET next_offset = :end_offset, intent_end = NULL, digest = NULL, last_batch_start = :start, last_batch_rows = :rows,
    last_batch_appended_at = to_timestamp(:appended_at_ms::double precision / 1000), updated_at = now()
WHERE log = :log AND partition = :partition AND epoch = :epoch AND next_offset = :start AND min_version <= catalog_version
RETURNING partition
