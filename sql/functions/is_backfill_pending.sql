-- Whether any version of a meter is still to be applied to stored events.
CREATE OR REPLACE FUNCTION is_backfill_pending() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM meter_backfills WHERE status <> 'completed')
$$;
REVOKE ALL ON FUNCTION is_backfill_pending FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_backfill_pending TO minutebook_programs;
