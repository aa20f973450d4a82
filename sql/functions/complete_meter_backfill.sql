-- Completes a backfill: from the commit on all readers see the new version. False when another attempt has taken the backfill
-- over or completed it, or when the change was given up.
-- No backfill is completed while events of its environment are being erased. Its row is locked first: an
-- erasure that begins overtakes the attempt by changing that row, and sees the attempt completed or makes it fail here.
CREATE OR REPLACE FUNCTION complete_meter_backfill(
  meter text, definition_version integer, attempt integer, attempt_generation bigint, scanned bigint, matched bigint
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  found_backfill meter_backfills;
BEGIN
  SELECT * INTO found_backfill FROM meter_backfills
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt
  FOR UPDATE;
  IF NOT FOUND OR EXISTS (
    SELECT FROM event_erasures AS erasure
    WHERE erasure.tenant_id = found_backfill.tenant_id AND erasure.environment_id = found_backfill.environment_id
      AND erasure.finished_at IS NULL)
  THEN
    RETURN false;
  END IF;
  UPDATE meter_backfills
  SET status = 'completed', completed_at = now(), error = NULL, claimed_until = NULL,
      events_scanned = scanned, events_matched = matched
  WHERE meter_id = meter AND version = definition_version;
  UPDATE meter_versions SET read_generations = ARRAY[generation, attempt_generation]
  WHERE meter_id = meter AND version = definition_version;
  PERFORM point_meter_at(meter, definition_version);
  RETURN true;
END
$$;
REVOKE ALL ON FUNCTION complete_meter_backfill FROM PUBLIC;
GRANT EXECUTE ON FUNCTION complete_meter_backfill TO minutebook_programs;
