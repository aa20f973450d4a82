-- Says that an aggregator process lives, forgets those long gone, and lists the living.
-- Params: :log, :member_id, :alive_seconds (a member silent for longer is taken for dead).
WITH beat AS (
  INSERT INTO aggregator_members (log, member_id, heartbeat_at) VALUES (:log, :member_id, now())
  ON CONFLICT (log, member_id) DO UPDATE SET heartbeat_at = now()
), forgotten AS (
  DELETE FROM aggregator_members
  WHERE heartbeat_at < now() - make_interval(mins => 10) AND member_id <> :member_id
)
SELECT member_id FROM aggregator_members
WHERE log = :log AND member_id <> :member_id
  AND heartbeat_at >= now() - make_interval(secs => :alive_seconds)
