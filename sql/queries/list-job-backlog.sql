-- How much there is to do, of all environments. Grain: one row per name that has a job. Params: :due, :names.
SELECT name, due_count, oldest_due_at, parked_count, failures, finished_at, state
FROM list_job_backlog(:due::timestamptz, :names)
