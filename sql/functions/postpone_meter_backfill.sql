-- Gives an attempt of a backfill up, with the reason, until another is made after a pause. False when it was taken over.
CREATE OR REPLACE FUNCTION postpone_meter_backfill(
  meter text, definition_version integer, attempt integer, reason text, pause_seconds double precision
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE meter_backfills
  SET status = 'failed', error = reason, claimed_until = now() + make_interval(secs => pause_seconds)
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt
    AND pause_seconds >= 0;
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION postpone_meter_backfill FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postpone_meter_backfill TO minutebook_programs;
