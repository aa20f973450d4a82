-- Takes a job that is due (0037); no row when there is none. Locks its row for the transaction.
-- Params: :due, :names with their :leases in seconds, :after_turn (null: whose turn it is does not count), :turns_full.
SELECT id, name, tenant_id, environment_id, input, state, due_at, run_at, attempts, claims, turn, test_clock
FROM claim_job(:due::timestamptz, :names, :leases, :after_turn, :turns_full)
