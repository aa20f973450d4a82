-- Raw events that the log appended before this instant are removed, or are about to be; null while all are kept. It only rises.
CREATE OR REPLACE FUNCTION raw_events_begin_at() RETURNS timestamptz LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT (max(append_month) + interval '1 month') AT TIME ZONE 'UTC' FROM expired_months
$$;
REVOKE ALL ON FUNCTION raw_events_begin_at FROM PUBLIC;
GRANT EXECUTE ON FUNCTION raw_events_begin_at TO minutebook_programs, minutebook_app;
