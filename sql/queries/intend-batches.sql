-- Records the intents to write batches [start, end_offset), one of each partition. Returns the partitions of those recorded. A
-- guard refuses the others, each by itself: another owner, another position, an unfinished intent, or a catalog older than the
-- newest meter's.
-- Params: :log, :batches (JSON list of partition, epoch, start, end_offset, catalog_version, fold_version, digest,
-- is_replacement: replaces the unfinished intent, of which nothing was written, by one of the same range and catalog. A meter
-- that was activated meanwhile starts at the end of this intent, so the older catalog is right and a newer one would be wrong).
-- Locks: the rows in the order of their partitions, as an activation locks them.
WITH batch AS (
  SELECT * FROM jsonb_to_recordset(:batches::jsonb) AS b (
    partition integer, epoch bigint, start bigint, end_offset bigint, catalog_version bigint, fold_version integer,
    digest text, is_replacement boolean)
), held AS (
  SELECT c.partition FROM aggregator_checkpoints AS c JOIN batch USING (partition)
  WHERE c.log = :log ORDER BY c.partition FOR UPDATE OF c
)
UPDATE aggregator_checkpoints AS c
SET intent_end = batch.end_offset, catalog_version = batch.catalog_version, fold_version = batch.fold_version,
    digest = batch.digest, updated_at = now()
FROM held JOIN batch USING (partition)
WHERE c.log = :log AND c.partition = batch.partition AND c.epoch = batch.epoch AND c.next_offset = batch.start
  AND CASE WHEN batch.is_replacement
    THEN c.intent_end = batch.end_offset AND c.catalog_version = batch.catalog_version
    ELSE c.intent_end IS NULL AND c.min_version <= batch.catalog_version AND c.catalog_version <= batch.catalog_version
  END
RETURNING c.partition
