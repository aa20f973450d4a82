-- Queues a job in the transaction of an environment. With :once, nothing is stored when the same one waits already, due no later:
-- that one is then locked, so that it begins after this transaction. One that is being taken counts as begun.
-- Params: :id, :name, :tenant_id, :environment_id, :key, :input, :due_at, :at, :once. Index: jobs_of_key.
WITH same AS (
  SELECT 1 FROM jobs
  WHERE :once AND tenant_id = :tenant_id AND environment_id = :environment_id AND name = :name
    AND turn = :tenant_id || '|' || :environment_id AND key = :key
    AND status = 'waiting' AND due_at <= :due_at::timestamptz
  LIMIT 1 FOR UPDATE SKIP LOCKED
)
INSERT INTO jobs (id, name, tenant_id, environment_id, key, turn, input, due_at, run_at, created_at)
SELECT :id, :name, :tenant_id, :environment_id, :key, :tenant_id || '|' || :environment_id, :input::jsonb, :due_at::timestamptz, :due_at::timestamptz, :at::timestamptz
WHERE NOT EXISTS (SELECT FROM same)
