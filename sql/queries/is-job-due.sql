-- Whether there may be a job to take. Params: :due, :names.
SELECT is_job_due(:due::timestamptz, :names) AS is_due
