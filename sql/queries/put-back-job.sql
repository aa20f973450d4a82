-- Puts a job back that was not finished (0037); false when another claim has taken it over.
-- Params: :id, :claim, :attempts so far, :reason, :again_at (null parks the job), :at.
SELECT put_back_job(:id, :claim, :attempts, :reason, :again_at::timestamptz, :at::timestamptz) AS is_held
