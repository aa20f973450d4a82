-- Puts a job back whose try failed or was broken off: it may be tried again from an instant on or, when that is null, it is
-- parked. A claim that was rolled back has left the number of the one before it.
CREATE OR REPLACE FUNCTION put_back_job(job_id text, claim bigint, attempts_made integer, reason text, again_at timestamptz, at timestamptz)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE jobs
  SET status = CASE WHEN again_at IS NULL THEN 'parked' ELSE 'waiting' END, run_at = coalesce(again_at, run_at),
    parked_at = CASE WHEN again_at IS NULL THEN at END, attempts = attempts_made, claimed_until = NULL,
    error = coalesce(reason, error)
  WHERE id = job_id
    AND (status = 'running' AND claims = claim OR status = 'waiting' AND claims = claim - 1);
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION put_back_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION put_back_job TO minutebook_programs;
