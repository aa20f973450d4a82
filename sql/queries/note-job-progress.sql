-- Lets the try that a claim has begun count as the first one; false when another process has taken the job over.
SELECT note_job_progress(:id, :claim) AS is_held
