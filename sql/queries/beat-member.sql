-- Records that an aggregator process lives, removes those that ended long ago, and lists the other live ones.
-- Params: :log, :member_id, :is_leaving (it shuts down and gives up its partitions), :alive_seconds (a process that was silent
-- for longer counts as dead).
WITH beat AS (
  INSERT INTO aggregator_members (log, member_id, heartbeat_at, is_leaving)
  VALUES (:log, :member_id, now(), :is_leaving)
  ON CONFLICT (log, member_id) DO UPDATE
  SET heartbeat_at = now(), is_leaving = aggregator_members.is_leaving OR excluded.is_leaving
), forgotten AS (
  DELETE FROM aggregator_members
  WHERE heartbeat_at < now() - make_interval(mins => 10) AND member_id <> :member_id
)
SELECT member_id, is_leaving FROM aggregator_members
WHERE log = :log AND member_id <> :member_id
  AND heartbeat_at >= now() - make_interval(secs => :alive_seconds)
