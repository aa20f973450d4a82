-- Stores the row of a scheduled job if there is none, or its new schedule. Params: :id, :name, :schedule, :first_due_at, :at.
SELECT declare_job_schedule(:id, :name, :schedule, :first_due_at::timestamptz, :at::timestamptz)
