-- Whether claim_job may find a job of these names at an instant, of any environment, without taking one. It is asked all the time, and
-- most of the time there is none: no transaction is begun for it, and no row is locked. Where an environment has a test clock, only
-- claim_job knows. Indexes: jobs_due, jobs_running.
CREATE OR REPLACE FUNCTION is_job_due(due timestamptz, names text[])
RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM jobs WHERE jobs.status = 'waiting' AND jobs.run_at <= due AND jobs.name = ANY (names))
    OR EXISTS (SELECT FROM jobs
      WHERE jobs.status = 'running' AND jobs.claimed_until < clock_timestamp() AND jobs.name = ANY (names))
    OR EXISTS (SELECT FROM test_clocks)
$$;
REVOKE ALL ON FUNCTION is_job_due FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_job_due TO minutebook_programs;
