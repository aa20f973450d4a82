-- Retires versions that no reader has seen for a time: the aggregator no longer adds to them, and they cannot be restored. It
-- waits for no lock: a meter that is being changed is left for the next call. Returns how many were retired.
CREATE OR REPLACE FUNCTION apply_meter_retirement(unread_for interval, versions_max integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  idle text[];
  catalog bigint;
  retired integer := 0;
BEGIN
  SELECT array_agg(locked.id) INTO idle FROM (
    SELECT meters.id FROM meters
    WHERE meters.id IN (SELECT meter_id FROM meter_versions
                        WHERE retired_in IS NULL AND unread_since < now() - unread_for)
    LIMIT versions_max
    FOR NO KEY UPDATE SKIP LOCKED) AS locked;
  IF idle IS NULL THEN
    RETURN retired;
  END IF;
  catalog := next_catalog_version();
  UPDATE meter_versions SET retired_in = catalog
  WHERE meter_id = ANY (idle) AND retired_in IS NULL AND unread_since < now() - unread_for;
  GET DIAGNOSTICS retired = ROW_COUNT;
  RETURN retired;
END
$$;
REVOKE ALL ON FUNCTION apply_meter_retirement FROM PUBLIC;
