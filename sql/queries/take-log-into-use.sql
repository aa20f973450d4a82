-- Takes a log into use. It does nothing while one is in use, while an aggregator runs on another log, as one of an earlier release may,
-- or while a batch of another log is begun and not finished. Params: :log, :alive_seconds (an aggregator that was silent for longer
-- counts as dead).
INSERT INTO log_in_use (log)
SELECT :log
WHERE NOT EXISTS (
    SELECT FROM aggregator_members WHERE log <> :log AND heartbeat_at >= now() - make_interval(secs => :alive_seconds))
  AND NOT EXISTS (SELECT FROM aggregator_checkpoints WHERE log <> :log AND intent_end IS NOT NULL)
ON CONFLICT DO NOTHING
