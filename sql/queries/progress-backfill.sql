-- Extends the claim of an attempt and records its progress. False when another attempt has taken over or the change was given
-- up: the rows of this attempt will never be read.
-- Params: :meter_id, :version, :attempts, :events_scanned, :events_matched, :lease_seconds.
SELECT progress_meter_backfill(:meter_id, :version, :attempts, :events_scanned, :events_matched, :lease_seconds)
  AS is_running
