-- Stores the row of a scheduled job, once for all processes. When its schedule has changed, it is next due as the new one says.
CREATE OR REPLACE FUNCTION declare_job_schedule(job_id text, job_name text, pattern text, first_due timestamptz, declared_at timestamptz)
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
REVOKE ALL ON FUNCTION declare_job_schedule FROM PUBLIC;
GRANT EXECUTE ON FUNCTION declare_job_schedule TO minutebook_programs;
