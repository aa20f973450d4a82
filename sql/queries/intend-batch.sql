-- Promises the batch [:start, :end_offset). No row comes back when a guard refuses: another owner, another position, a
-- promise that stands, or a catalog older than a meter whose vector counts on a newer one.
-- Params: :log, :partition, :epoch, :start, :end_offset, :catalog_version, :fold_version, :digest,
-- :is_replacement (the standing promise is replaced, nothing of which exists: same range, same catalog. A meter activated
-- meanwhile took its vector from the end of this promise, so an older catalog is right, and a newer one would be wrong).
UPDATE aggregator_checkpoints
SET pending_end = :end_offset, catalog_version = :catalog_version, fold_version = :fold_version,
    digest = :digest, updated_at = now()
WHERE log = :log AND partition = :partition AND epoch = :epoch AND next_offset = :start
  AND CASE WHEN :is_replacement::boolean
    THEN pending_end = :end_offset AND catalog_version = :catalog_version
    ELSE pending_end IS NULL AND min_version <= :catalog_version AND catalog_version <= :catalog_version
  END
RETURNING epoch
