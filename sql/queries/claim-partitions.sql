-- Makes a process the owner of those partitions that still have the owner it saw: of two that claim one, only one gets it.
-- Params: :log, :member_id, :claims (JSON array of {partition, from}). Locks the rows in the order that activating a meter uses.
-- Returns the partitions claimed.
WITH claimed AS (
  SELECT checkpoint.partition
  FROM aggregator_checkpoints AS checkpoint
  JOIN jsonb_to_recordset(:claims::jsonb) AS claim (partition integer, "from" text)
    ON claim.partition = checkpoint.partition
  WHERE checkpoint.log = :log AND checkpoint.owner IS NOT DISTINCT FROM claim."from"
  ORDER BY checkpoint.partition
  FOR UPDATE OF checkpoint
)
UPDATE aggregator_checkpoints AS checkpoint
SET owner = :member_id, kept_by = nullif(checkpoint.kept_by, :member_id)
FROM claimed
WHERE checkpoint.log = :log AND checkpoint.partition = claimed.partition
RETURNING checkpoint.partition
