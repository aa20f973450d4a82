-- Records why an attempt failed. The next attempt starts from the beginning after :pause_seconds.
-- Params: :meter_id, :version, :attempts, :error, :pause_seconds.
SELECT postpone_meter_backfill(:meter_id, :version, :attempts, :error, :pause_seconds)
