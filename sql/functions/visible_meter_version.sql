-- The version whose usage rows readers of a meter see now; null for a meter that does not exist.
CREATE OR REPLACE FUNCTION visible_meter_version(meter text) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT coalesce(definition.reverts_to, definition.version)
  FROM meters JOIN meter_versions AS definition
    ON definition.meter_id = meters.id AND definition.version = meters.read_version
  WHERE meters.id = meter
$$;
REVOKE ALL ON FUNCTION visible_meter_version FROM PUBLIC;
