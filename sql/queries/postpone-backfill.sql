-- Records why an attempt failed. The next attempt starts from the beginning after :pause_seconds.
-- Params: :meter_id, :version, :attempts, :error, :pause_seconds.
UPDATE meter_backfills
SET status = 'failed', error = :error, claimed_until = now() + make_interval(secs => :pause_seconds)
WHERE meter_id = :meter_id AND version = :version AND status = 'running' AND attempts = :attempts
