-- Every event that was received before this instant is in ClickHouse; never later than now, NULL while nothing is known. It names no
-- tenant, and usage queries ask for it after they have entered an environment.
CREATE OR REPLACE FUNCTION find_counted_events() RETURNS timestamptz(3)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT least(received_before, statement_timestamp()) FROM counted_events WHERE received_before IS NOT NULL
$$;
REVOKE ALL ON FUNCTION find_counted_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_counted_events TO minutebook_programs, minutebook_app;
