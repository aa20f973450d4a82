-- Gives a partition up and tells the others. Params: :log, :partition, :member_id, :is_kept (the process stays alive and keeps
-- the id filter). Changes nothing when another process owns it by now.
WITH released AS (
  UPDATE aggregator_checkpoints
  SET owner = NULL, kept_by = CASE WHEN :is_kept THEN :member_id ELSE nullif(kept_by, :member_id) END
  WHERE log = :log AND partition = :partition AND owner = :member_id
  RETURNING partition
)
SELECT pg_notify('aggregator_sharing', :log) FROM released
