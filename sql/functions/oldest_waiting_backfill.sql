-- Since when the oldest version of a meter waits that is still to be applied to stored events; null when none does.
CREATE OR REPLACE FUNCTION oldest_waiting_backfill() RETURNS timestamptz LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
  SELECT min(started_at) FROM meter_backfills WHERE status <> 'completed'
$$;
REVOKE ALL ON FUNCTION oldest_waiting_backfill FROM PUBLIC;
GRANT EXECUTE ON FUNCTION oldest_waiting_backfill TO minutebook_programs;
