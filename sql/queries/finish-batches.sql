-- Finishes the batches [start, end_offset) of the intents of several partitions. Returns the partitions of those finished. A guard
-- refuses the others, each by itself.
-- Params: :log, :batches (JSON list of partition, epoch, start, end_offset, rows: event rows that the batch wrote,
-- appended_at_ms: when the log appended its first record; null when that is not known).
-- Locks: the rows in the order of their partitions, as an activation locks them.
WITH batch AS (
  SELECT * FROM jsonb_to_recordset(:batches::jsonb) AS b (
    partition integer, epoch bigint, start bigint, end_offset bigint, rows integer, appended_at_ms bigint)
), held AS (
  SELECT c.partition FROM aggregator_checkpoints AS c JOIN batch USING (partition)
  WHERE c.log = :log ORDER BY c.partition FOR UPDATE OF c
)
UPDATE aggregator_checkpoints AS c
SET next_offset = batch.end_offset, intent_end = NULL, digest = NULL,
    last_batch_start = batch.start, last_batch_rows = batch.rows,
    last_batch_appended_at = to_timestamp(batch.appended_at_ms::double precision / 1000), updated_at = now()
FROM held JOIN batch USING (partition)
WHERE c.log = :log AND c.partition = batch.partition AND c.epoch = batch.epoch AND c.next_offset = batch.start
  AND c.intent_end = batch.end_offset
RETURNING c.partition
