-- Makes an attempt visible: from the commit on readers see its rows and those of the live stream. False when another attempt
-- has overtaken it.
-- Params: :meter_id, :version, :attempts, :generation, :events_scanned, :events_matched.
SELECT complete_meter_backfill(:meter_id, :version, :attempts, :generation, :events_scanned, :events_matched)
  AS is_visible
