-- count-live-members
-- Aggregator processes that live, of whatever log. Params: :alive_seconds (one that was silent for longer counts as dead).
SELECT count(*) AS found FROM aggregator_members WHERE heartbeat_at >= now() - make_interval(secs => :alive_seconds)
