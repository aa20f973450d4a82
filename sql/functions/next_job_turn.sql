-- The next environment, or job of none, after another one in the order of their names that has a job which is due, except for some;
-- null when there is none. It reads one entry of jobs_of_turn for each that it passes, however many jobs that one has.
CREATE OR REPLACE FUNCTION next_job_turn(due timestamptz, after_turn text, turns_full text[]) RETURNS text
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  WITH RECURSIVE turns (turn, run_at) AS (
    (SELECT jobs.turn, jobs.run_at FROM jobs WHERE jobs.status = 'waiting' AND jobs.turn > after_turn
      ORDER BY jobs.turn, jobs.run_at, jobs.id LIMIT 1)
    UNION ALL
    SELECT following.turn, following.run_at FROM turns CROSS JOIN LATERAL (
      SELECT jobs.turn, jobs.run_at FROM jobs WHERE jobs.status = 'waiting' AND jobs.turn > turns.turn
      ORDER BY jobs.turn, jobs.run_at, jobs.id LIMIT 1) AS following
  )
  SELECT turns.turn FROM turns
  WHERE turns.turn <> ALL (turns_full) AND turns.run_at <= coalesce(
    (SELECT clock.now FROM test_clocks AS clock WHERE clock.tenant_id || '|' || clock.environment_id = turns.turn), due)
  LIMIT 1
$$;
REVOKE ALL ON FUNCTION next_job_turn FROM PUBLIC;
