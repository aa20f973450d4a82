-- A run that is killed is tried again, ten times. One that has got something done, which stays, counts as the first try again: so
-- long work on a machine that is often restarted is not given up, while work that kills its process at once still is.
CREATE OR REPLACE FUNCTION note_job_progress(job_id text, claim bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE jobs SET attempts = 1 WHERE id = job_id AND claims = claim AND status = 'running';
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION note_job_progress FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_job_progress TO minutebook_programs;
