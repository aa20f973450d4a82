-- Notes the instant before which an attempt finds no events, since they were removed; null when it finds them all. False when
-- another attempt has overtaken it. Params: :meter_id, :version, :attempts, :instant; :begin_at: where raw events begin now.
SELECT note_backfill_counts_from(:meter_id, :version, :attempts, :instant::timestamptz,
  :begin_at::timestamptz) AS is_running
