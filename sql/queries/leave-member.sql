-- Removes an aggregator process from the list and tells the others, so that they need not wait until it counts as dead.
-- Params: :log, :member_id.
WITH gone AS (
  DELETE FROM aggregator_members WHERE log = :log AND member_id = :member_id RETURNING member_id
)
SELECT pg_notify('aggregator_sharing', :log) FROM gone
