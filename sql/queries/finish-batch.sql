-- Finishes the batch [:start, :end_offset) of the intent. Returns no row when a guard refuses.
-- Params: :log, :partition, :epoch, :start, :end_offset, :rows (event rows the batch wrote), :appended_at_ms (when the log appended
-- its first record; null when that is not known).
UPDATE aggregator_checkpoints
SET next_offset = :end_offset, intent_end = NULL, digest = NULL,
    last_batch_start = :start, last_batch_rows = :rows,
    last_batch_appended_at = to_timestamp(:appended_at_ms::double precision / 1000), updated_at = now()
WHERE log = :log AND partition = :partition AND epoch = :epoch AND next_offset = :start
  AND intent_end = :end_offset
RETURNING epoch
