-- Gives an attempt of a backfill back, so that another process may go on at once. False when it was taken over.
CREATE OR REPLACE FUNCTION release_meter_backfill(meter text, definition_version integer, attempt integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE meter_backfills SET claimed_until = NULL
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt;
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION release_meter_backfill FROM PUBLIC;
GRANT EXECUTE ON FUNCTION release_meter_backfill TO minutebook_programs;
