-- Makes an attempt visible: from this commit on readers sum the live rows and those of the attempt. No row comes back when
-- another attempt was faster. Params: :meter_id, :version, :generation, :events_scanned, :events_matched.
WITH completed AS (
  UPDATE meter_backfills
  SET status = 'completed', completed_at = now(), error = NULL, claimed_until = NULL,
      events_scanned = :events_scanned, events_matched = :events_matched
  WHERE meter_id = :meter_id AND version = :version AND status = 'running'
  RETURNING meter_id, version
)
UPDATE meter_versions
SET read_generations = ARRAY[meter_versions.generation, :generation::bigint]
FROM completed
WHERE meter_versions.meter_id = completed.meter_id AND meter_versions.version = completed.version
RETURNING meter_versions.meter_id
