-- Ends a run that did not fail. The job is removed, or waits until it is due again, with what it keeps. In a transaction that
-- has entered an environment, only a job of that one.
CREATE OR REPLACE FUNCTION finish_job(job_id text, claim bigint, next_due timestamptz, kept jsonb, at timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  tenant text := nullif(current_setting('minutebook.tenant_id', true), '');
  environment text := nullif(current_setting('minutebook.environment_id', true), '');
BEGIN
  IF next_due IS NULL THEN
    DELETE FROM jobs
    WHERE id = job_id AND claims = claim AND schedule IS NULL
      AND (tenant IS NULL OR (tenant_id, environment_id) = (tenant, environment));
  ELSE
    UPDATE jobs
    SET status = 'waiting', due_at = next_due, run_at = next_due, attempts = 0, claimed_until = NULL, error = NULL,
      state = kept, finished_at = at
    WHERE id = job_id AND claims = claim AND (tenant IS NULL OR (tenant_id, environment_id) = (tenant, environment));
  END IF;
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION finish_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION finish_job TO minutebook_programs, minutebook_app;
