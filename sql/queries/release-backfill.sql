-- Gives an attempt up, since its process shuts down: another may claim the backfill. Params: :meter_id, :version, :attempts.
UPDATE meter_backfills
SET claimed_until = NULL
WHERE meter_id = :meter_id AND version = :version AND status = 'running' AND attempts = :attempts
