-- The log in use; another log on which an aggregator runs; and another one of which a batch is begun and not finished. Each is null
-- when there is none. Grain: one row. Params: :log (that of the program), :alive_seconds (an aggregator that was silent for longer
-- counts as dead).
SELECT (SELECT log FROM log_in_use) AS in_use,
  (SELECT min(log) FROM aggregator_members
   WHERE log <> :log AND heartbeat_at >= now() - make_interval(secs => :alive_seconds)) AS running,
  (SELECT min(log) FROM aggregator_checkpoints WHERE log <> :log AND intent_end IS NOT NULL) AS begun
