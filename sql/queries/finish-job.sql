-- Ends a run (0037); false when another claim has taken the job over.
-- Params: :id, :claim, :next_due_at (null removes the job), :state that it keeps, :at.
SELECT finish_job(:id, :claim, :next_due_at::timestamptz, :state::jsonb, :at::timestamptz) AS is_held
