-- Jobs: work that is done later, beside the requests (docs/architecture.md 4.8). Programs of the previous release may run: they
-- know nothing of this table, and keep the timers of their own.

CREATE TABLE jobs (
  id text PRIMARY KEY,
  -- Which job it is. Only a program that declares this name takes it.
  name text NOT NULL,
  -- Null for work of no environment, such as housekeeping.
  tenant_id text,
  environment_id text,
  -- At most one of a name, an environment and a key runs at any time.
  key text NOT NULL,
  input jsonb NOT NULL,
  -- Of a job that is done again and again: its interval or its cron pattern. Such a row stays. Null: done once, then removed.
  schedule text,
  -- What a scheduled job keeps from run to run.
  state jsonb,
  status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'running', 'parked')),
  -- The instant at which it fell due, and the one from which on it may be tried: later, after a try that failed.
  due_at timestamptz(3) NOT NULL,
  run_at timestamptz(3) NOT NULL,
  -- Tries so far since it fell due, the running one included.
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  -- Rises with every try and never falls, so that a process that was overtaken changes nothing any more.
  claims bigint NOT NULL DEFAULT 0,
  -- Until when the process that runs it holds it, by the clock of this server.
  claimed_until timestamptz,
  -- Why the last try failed.
  error text,
  parked_at timestamptz(3),
  created_at timestamptz(3) NOT NULL,
  -- The last run of a scheduled job that did not fail.
  finished_at timestamptz(3),
  -- Who takes turns with others: tenant|environment or, of a job of no environment, its name.
  turn text NOT NULL,
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id),
  CHECK ((tenant_id IS NULL) = (environment_id IS NULL)),
  CHECK (schedule IS NULL OR tenant_id IS NULL),
  CHECK ((status = 'running') = (claimed_until IS NOT NULL)),
  CHECK ((status = 'parked') = (parked_at IS NOT NULL))
);
CREATE UNIQUE INDEX jobs_scheduled ON jobs (name) WHERE schedule IS NOT NULL;
CREATE INDEX jobs_due ON jobs (run_at, id) WHERE status = 'waiting';
CREATE INDEX jobs_of_turn ON jobs (turn, run_at, id) WHERE status = 'waiting';
CREATE INDEX jobs_running ON jobs (claimed_until) WHERE status = 'running';
CREATE INDEX jobs_of_key ON jobs (name, turn, key);
CREATE INDEX jobs_of_environment ON jobs (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('jobs');

-- Stores the row of a scheduled job, once for all processes. When its schedule has changed, it is next due as the new one says.
CREATE FUNCTION declare_job_schedule(job_id text, job_name text, pattern text, first_due timestamptz, declared_at timestamptz)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF job_name IS NULL OR pattern IS NULL OR first_due IS NULL THEN
    RAISE EXCEPTION 'a scheduled job needs a name, a schedule and an instant' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  INSERT INTO jobs AS known (id, name, key, turn, input, schedule, due_at, run_at, created_at)
  VALUES (job_id, job_name, '', job_name, '{}', pattern, first_due, first_due, declared_at)
  ON CONFLICT (name) WHERE schedule IS NOT NULL DO UPDATE
  SET schedule = excluded.schedule, due_at = excluded.due_at, run_at = excluded.run_at
  WHERE known.schedule <> excluded.schedule;
END
$$;

-- The next environment, or job of none, after another one in the order of their names that has a job which is due, except for some;
-- null when there is none. It reads one entry of jobs_of_turn for each that it passes, however many jobs that one has.
CREATE FUNCTION next_job_turn(due timestamptz, after_turn text, turns_full text[]) RETURNS text
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

-- Takes a job that is due at an instant, of all environments; no row when there is none. In an environment with a test clock, that
-- clock decides what is due, and the row has what it shows. Taken is the earliest of the next environment after `after_turn`, so that
-- environments take turns; without it, the earliest of all. Jobs whose name is not in `names` or whose turn is in `turns_full` are
-- passed over, and so are those of which another one with the same key runs.
-- `leases` has a number of seconds for each name. With 0 the row stays locked, and the job belongs to the calling transaction: it
-- is free again when that one rolls back. With more, the caller commits, and holds the job for so long.
-- Indexes: jobs_running, jobs_due, jobs_of_turn, jobs_of_key.
CREATE FUNCTION claim_job(
  due timestamptz, names text[], leases double precision[], after_turn text, turns_full text[]
)
RETURNS TABLE (id text, name text, tenant_id text, environment_id text, input jsonb, state jsonb, due_at timestamptz(3),
  run_at timestamptz(3), attempts integer, claims bigint, turn text, test_clock timestamptz(3))
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  found_job jobs;
  lease double precision;
  found_turn text;
  is_late boolean;
  -- Keys of which one runs, and turns whose jobs others are taking.
  busy text[] := '{}';
  passed text[] := turns_full;
BEGIN
  IF due IS NULL OR cardinality(names) <> cardinality(leases) OR cardinality(names) > 1000 THEN
    RAISE EXCEPTION 'an instant must be given, and a lease for each of at most 1000 names'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  LOOP
    -- First what a process left behind that died or was stopped for too long.
    SELECT jobs.* INTO found_job FROM jobs
    WHERE jobs.status = 'running' AND jobs.claimed_until < clock_timestamp() AND jobs.name = ANY (names)
      AND jobs.turn <> ALL (passed) AND jobs.name || '|' || jobs.turn || '|' || jobs.key <> ALL (busy)
    ORDER BY jobs.run_at, jobs.id LIMIT 1 FOR UPDATE SKIP LOCKED;
    is_late := FOUND;
    found_turn := NULL;
    IF NOT is_late AND after_turn IS NOT NULL THEN
      IF coalesce((SELECT min(jobs.run_at) FROM jobs WHERE jobs.status = 'waiting') > due, true)
        AND NOT EXISTS (SELECT FROM test_clocks) THEN
        RETURN;
      END IF;
      found_turn := coalesce(next_job_turn(due, after_turn, passed), next_job_turn(due, '', passed));
      IF found_turn IS NULL THEN
        RETURN;
      END IF;
    END IF;
    IF NOT is_late AND found_turn IS NOT NULL THEN
      SELECT jobs.* INTO found_job FROM jobs
      -- A range of one turn, which only jobs_of_turn has in this order: jobs_due would first read all that others have.
      WHERE jobs.status = 'waiting' AND jobs.turn >= found_turn AND jobs.turn <= found_turn AND jobs.name = ANY (names)
        AND jobs.run_at <= coalesce((
          SELECT clock.now FROM test_clocks AS clock
          WHERE clock.tenant_id = jobs.tenant_id AND clock.environment_id = jobs.environment_id), due)
        AND jobs.name || '|' || jobs.turn || '|' || jobs.key <> ALL (busy)
      ORDER BY jobs.turn, jobs.run_at, jobs.id LIMIT 1 FOR UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        passed := passed || found_turn;
        CONTINUE;
      END IF;
    ELSIF NOT is_late THEN
      SELECT jobs.* INTO found_job FROM jobs
      WHERE jobs.status = 'waiting' AND jobs.name = ANY (names)
        AND jobs.run_at <= coalesce((
          SELECT clock.now FROM test_clocks AS clock
          WHERE clock.tenant_id = jobs.tenant_id AND clock.environment_id = jobs.environment_id), due)
        AND jobs.turn <> ALL (passed) AND jobs.name || '|' || jobs.turn || '|' || jobs.key <> ALL (busy)
      ORDER BY jobs.run_at, jobs.id LIMIT 1 FOR UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        RETURN;
      END IF;
    END IF;
    -- The lock decides between two that are claimed at the same moment; the row tells of one that is held longer.
    EXIT WHEN pg_try_advisory_xact_lock(hashtextextended(
        'minutebook:job:' || found_job.name || '|' || found_job.turn || '|' || found_job.key, 0))
      AND NOT EXISTS (
        SELECT FROM jobs AS other
        WHERE other.name = found_job.name AND other.turn = found_job.turn AND other.key = found_job.key
          AND other.status = 'running' AND other.claimed_until >= clock_timestamp() AND other.id <> found_job.id);
    busy := busy || (found_job.name || '|' || found_job.turn || '|' || found_job.key);
  END LOOP;
  lease := leases[array_position(names, found_job.name)];
  RETURN QUERY UPDATE jobs AS taken
    SET attempts = taken.attempts + 1, claims = taken.claims + 1,
      status = CASE WHEN lease > 0 THEN 'running' ELSE 'waiting' END,
      claimed_until = CASE WHEN lease > 0 THEN clock_timestamp() + make_interval(secs => lease) END
    WHERE taken.id = found_job.id
    RETURNING taken.id, taken.name, taken.tenant_id, taken.environment_id, taken.input, taken.state, taken.due_at,
      taken.run_at, taken.attempts, taken.claims, taken.turn,
      find_test_clock(taken.tenant_id, taken.environment_id)::timestamptz(3);
END
$$;

-- The next three change a job only for the claim that holds it; they return false when another has taken over.
CREATE FUNCTION renew_job(job_id text, claim bigint, lease double precision) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE jobs SET claimed_until = clock_timestamp() + make_interval(secs => lease)
  WHERE id = job_id AND claims = claim AND status = 'running' AND lease > 0;
  RETURN FOUND;
END
$$;

-- Ends a run that did not fail. The job is removed, or waits until it is due again, with what it keeps. In a transaction that
-- has entered an environment, only a job of that one.
CREATE FUNCTION finish_job(job_id text, claim bigint, next_due timestamptz, kept jsonb, at timestamptz) RETURNS boolean
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

-- Puts a job back whose try failed or was broken off: it may be tried again from an instant on or, when that is null, it is
-- parked. A claim that was rolled back has left the number of the one before it.
CREATE FUNCTION put_back_job(job_id text, claim bigint, attempts_made integer, reason text, again_at timestamptz, at timestamptz)
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

-- How much there is to do at an instant, by name, of all environments.
CREATE FUNCTION list_job_backlog(due timestamptz, names text[])
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

REVOKE ALL ON FUNCTION declare_job_schedule, next_job_turn, claim_job, renew_job, finish_job, put_back_job, list_job_backlog FROM PUBLIC;
GRANT EXECUTE ON FUNCTION declare_job_schedule, claim_job, renew_job, put_back_job, list_job_backlog TO minutebook_programs;
GRANT EXECUTE ON FUNCTION finish_job TO minutebook_programs, minutebook_app;
