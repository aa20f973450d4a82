-- Takes a job that is due at an instant, of all environments; no row when there is none. In an environment with a test clock, that
-- clock decides what is due, and the row has what it shows. Taken is the earliest of the next environment after `after_turn`, so that
-- environments take turns; without it, the earliest of all. Jobs whose name is not in `names` or whose turn is in `turns_full` are
-- passed over, and so are those of which another one with the same key runs.
-- `leases` has a number of seconds for each name. With 0 the row stays locked, and the job belongs to the calling transaction: it
-- is free again when that one rolls back. With more, the caller commits, and holds the job for so long.
-- Indexes: jobs_running, jobs_due, jobs_of_turn, jobs_of_key.
-- The lock on a key and the look for another job of that key are two steps: the look sees everything that was committed before the
-- lock was taken.
CREATE OR REPLACE FUNCTION claim_job(
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
    -- The lock decides between two that are claimed at the same moment; the row tells of one that is held longer. The second statement
    -- sees what was committed before the lock was free.
    IF pg_try_advisory_xact_lock(hashtextextended(
        'minutebook:job:' || found_job.name || '|' || found_job.turn || '|' || found_job.key, 0)) THEN
      EXIT WHEN NOT EXISTS (
        SELECT FROM jobs AS other
        WHERE other.name = found_job.name AND other.turn = found_job.turn AND other.key = found_job.key
          AND other.status = 'running' AND other.claimed_until >= clock_timestamp() AND other.id <> found_job.id);
    END IF;
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
REVOKE ALL ON FUNCTION claim_job FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_job TO minutebook_programs;
