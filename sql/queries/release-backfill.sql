-- Gives an attempt up, since its process shuts down: another may claim the backfill. Params: :meter_id, :version, :attempts.
SELECT release_meter_backfill(:meter_id, :version, :attempts)
