-- Promises the batch [:start, :end_offset). No row comes back when a guard refuses: another owner, another position, a
-- promise that stands, or a catalog older than a meter whose vector counts on a newer one.
-- Params: :log, :partition, :epoch, :start, :end_offset, :catalog_version, :fold_version, :digest,
-- :is_replacement (the standing promise of this range is replaced; nothing of it exists).
UPDATE aggregator_checkpoints
SET pending_end = :end_offset, catalog_version = :catalog_version, fold_version = :fold_version,
    digest = :digest, updated_at = now()
WHERE log = :log AND partition = :partition AND epoch = :epoch AND next_offset = :start
  AND (pending_end IS NOT NULL) = :is_replacement
  AND min_version <= :catalog_version AND catalog_version <= :catalog_version
RETURNING epoch
