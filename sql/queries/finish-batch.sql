-- Finishes the batch [:start, :end_offset) of the intent. Returns no row when a guard refuses.
-- Params: :log, :partition, :epoch, :start, :end_offset, :rows (event rows the batch wrote).
UPDATE aggregator_checkpoints
SET next_offset = :end_offset, intent_end = NULL, digest = NULL,
    last_batch_start = :start, last_batch_rows = :rows, updated_at = now()
WHERE log = :log AND partition = :partition AND epoch = :epoch AND next_offset = :start
  AND intent_end = :end_offset
RETURNING epoch
