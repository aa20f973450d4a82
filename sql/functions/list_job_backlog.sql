-- How much there is to do at an instant, by name, of all environments.
CREATE OR REPLACE FUNCTION list_job_backlog(due timestamptz, names text[])
RETURNS TABLE (name text, due_count bigint, oldest_due_at timestamptz(3), parked_count bigint, failures integer,
  finished_at timestamptz(3), state jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT jobs.name, count(*) FILTER (WHERE jobs.status <> 'parked' AND jobs.due_at <= due),
    min(jobs.due_at) FILTER (WHERE jobs.status <> 'parked' AND jobs.due_at <= due),
    count(*) FILTER (WHERE jobs.status = 'parked'),
    max(jobs.attempts) FILTER (WHERE jobs.status = 'waiting'), max(jobs.finished_at),
    (array_agg(jobs.state) FILTER (WHERE jobs.schedule IS NOT NULL))[1]
  FROM jobs WHERE jobs.name = ANY (names) GROUP BY jobs.name
$$;
REVOKE ALL ON FUNCTION list_job_backlog FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_job_backlog TO minutebook_programs;
