-- Extends the claim of an attempt and records its progress. Returns no row when another attempt has taken over or the change
-- was given up: the rows of this attempt will never be read.
-- Params: :meter_id, :version, :attempts, :events_scanned, :events_matched, :lease_seconds.
UPDATE meter_backfills
SET claimed_until = now() + make_interval(secs => :lease_seconds),
    events_scanned = :events_scanned, events_matched = :events_matched
WHERE meter_id = :meter_id AND version = :version AND status = 'running' AND attempts = :attempts
RETURNING meter_id
