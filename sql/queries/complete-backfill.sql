-- Makes an attempt visible: from this commit on readers see its rows and the live ones. False when it was overtaken.
-- Params: :meter_id, :version, :attempts, :generation, :events_scanned, :events_matched.
SELECT complete_meter_backfill(:meter_id, :version, :attempts, :generation, :events_scanned, :events_matched)
  AS is_visible
