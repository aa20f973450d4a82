-- The next three change a backfill only while this attempt runs it; they return false when another has taken over, or when
-- the change was given up: the rows of this attempt will never be read.
CREATE OR REPLACE FUNCTION progress_meter_backfill(
  meter text, definition_version integer, attempt integer, scanned bigint, matched bigint, lease_seconds double precision
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE meter_backfills
  SET claimed_until = now() + make_interval(secs => lease_seconds), events_scanned = scanned, events_matched = matched
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt
    AND lease_seconds > 0;
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION progress_meter_backfill FROM PUBLIC;
GRANT EXECUTE ON FUNCTION progress_meter_backfill TO minutebook_programs;
