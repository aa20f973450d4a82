-- Says since when a process of ingest may hold events, and that it lives (0082). Params: :process, :log, :held_since, :silent_seconds (when
-- it was silent for longer, it accepts no events any more).
SELECT report_ingest_process(:process, :log, :held_since::timestamptz, make_interval(secs => :silent_seconds))
