-- Records the intent to write the batch [:start, :end_offset). Returns no row when a guard refuses: another owner, another
-- position, an unfinished intent, or a catalog older than the newest meter's.
-- Params: :log, :partition, :epoch, :start, :end_offset, :catalog_version, :fold_version, :digest,
-- :is_replacement (replaces the unfinished intent, of which nothing was written, by one of the same range and catalog. A meter
-- that was activated meanwhile starts at the end of this intent, so the older catalog is right and a newer one would be wrong).
UPDATE aggregator_checkpoints
SET intent_end = :end_offset, catalog_version = :catalog_version, fold_version = :fold_version,
    digest = :digest, updated_at = now()
WHERE log = :log AND partition = :partition AND epoch = :epoch AND next_offset = :start
  AND CASE WHEN :is_replacement::boolean
    THEN intent_end = :end_offset AND catalog_version = :catalog_version
    ELSE intent_end IS NULL AND min_version <= :catalog_version AND catalog_version <= :catalog_version
  END
RETURNING epoch
