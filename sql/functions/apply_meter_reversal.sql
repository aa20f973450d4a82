-- Takes a change back, inside the transaction that writes the meter: the new version shows the usage rows of an earlier one
-- that is complete and still added to, so that readers switch at once. All versions but this one and the one that readers
-- leave are retired.
CREATE OR REPLACE FUNCTION apply_meter_reversal(meter text, definition_version integer, stream integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  before integer := visible_meter_version(meter);
  catalog bigint;
BEGIN
  INSERT INTO meter_versions
    (meter_id, version, tenant_id, environment_id, event_name, filters, activated_in, retired_in, reverts_to,
     aggregation_type, aggregation_field, aggregation_expression, aggregation_multiplier, aggregation_group_by)
  SELECT meter_id, definition_version, tenant_id, environment_id, event_name, filters, activated_in, activated_in, version,
     aggregation_type, aggregation_field, aggregation_expression, aggregation_multiplier, aggregation_group_by
  FROM meter_versions
  WHERE meter_id = meter AND version = stream AND retired_in IS NULL AND read_generations <> '{}';
  IF NOT FOUND THEN
    RAISE EXCEPTION 'version % of % is no longer counted', stream, meter;
  END IF;
  DELETE FROM meter_backfills WHERE meter_id = meter AND status <> 'completed';
  IF EXISTS (SELECT FROM meter_versions
             WHERE meter_id = meter AND retired_in IS NULL AND version NOT IN (stream, before)) THEN
    catalog := next_catalog_version();
    UPDATE meter_versions SET retired_in = catalog
    WHERE meter_id = meter AND retired_in IS NULL AND version NOT IN (stream, before);
  END IF;
  PERFORM point_meter_at(meter, definition_version);
  UPDATE meters SET backfill =
    (SELECT visible_backfill(done) FROM meter_backfills AS done
     WHERE done.meter_id = meter AND done.version = stream)
  WHERE id = meter;
END
$$;
REVOKE ALL ON FUNCTION apply_meter_reversal FROM PUBLIC;
