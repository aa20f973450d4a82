-- Makes readers see another version of a meter, from the commit on.
CREATE OR REPLACE FUNCTION point_meter_at(meter text, target integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  before integer := visible_meter_version(meter);
BEGIN
  UPDATE meters SET read_version = target WHERE id = meter;
  UPDATE meter_versions SET unread_since = now()
  WHERE meter_id = meter AND version = before AND retired_in IS NULL;
  UPDATE meter_versions SET unread_since = NULL
  WHERE meter_id = meter AND version = visible_meter_version(meter);
END
$$;
REVOKE ALL ON FUNCTION point_meter_at FROM PUBLIC;
