-- The next three change a job only for the claim that holds it; they return false when another has taken over.
CREATE OR REPLACE FUNCTION renew_job(job_id text, claim bigint, lease double precision) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE jobs SET claimed_until = clock_timestamp() + make_interval(secs => lease)
  WHERE id = job_id AND claims = claim AND status = 'running' AND lease > 0;
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION renew_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION renew_job TO minutebook_programs;
