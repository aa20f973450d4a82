-- Leaves an attempt to whoever claims next, since its process ends in order. Params: :meter_id, :version, :attempts.
UPDATE meter_backfills
SET claimed_until = NULL
WHERE meter_id = :meter_id AND version = :version AND status = 'running' AND attempts = :attempts
