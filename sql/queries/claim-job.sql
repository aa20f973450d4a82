-- Takes the next job that is due (0033); no row when there is none. Locks its row for the transaction.
-- Params: :due, :names with their :leases in seconds, :turns_passed.
SELECT id, name, tenant_id, environment_id, input, state, due_at, run_at, attempts, claims, turn
FROM claim_job(:due::timestamptz, :names, :leases, :turns_passed)
