-- Activates a new definition of a meter, inside the transaction that writes the meter. The aggregator goes on adding to the
-- version that readers see, and every other version is retired: it adds to two at most, however often a meter changes. The
-- live stream of the new version counts the events from its start offsets on, a backfill counts the events below.
CREATE OR REPLACE FUNCTION apply_meter_activation(
  meter text, definition_version integer, tenant text, environment text, name text, definition_filters jsonb,
  aggregation jsonb DEFAULT '{"type": "COUNT"}'
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  catalog bigint := next_catalog_version();
BEGIN
  UPDATE meter_versions SET retired_in = catalog
  WHERE meter_id = meter AND retired_in IS NULL AND version IS DISTINCT FROM visible_meter_version(meter);
  -- A change whose backfill was never completed is given up in favour of the new one.
  DELETE FROM meter_backfills WHERE meter_id = meter AND status <> 'completed';
  INSERT INTO meter_versions
    (meter_id, version, tenant_id, environment_id, event_name, filters, activated_in,
     aggregation_type, aggregation_field, aggregation_expression, aggregation_multiplier, aggregation_group_by)
  VALUES
    (meter, definition_version, tenant, environment, name, definition_filters, catalog,
     aggregation ->> 'type', aggregation ->> 'field', aggregation ->> 'expression',
     (aggregation ->> 'multiplier')::numeric, aggregation ->> 'groupBy');
  PERFORM raise_catalog_of_partitions(catalog);
  INSERT INTO meter_start_offsets (meter_id, version, log, partition, live_from)
  SELECT meter, definition_version, log, partition, coalesce(intent_end, next_offset)
  FROM aggregator_checkpoints;
  IF EXISTS (SELECT FROM meter_start_offsets
             WHERE meter_id = meter AND version = definition_version AND live_from > 0) THEN
    INSERT INTO meter_backfills (meter_id, version, tenant_id, environment_id)
    VALUES (meter, definition_version, tenant, environment);
  ELSE
    UPDATE meter_versions SET read_generations = ARRAY[generation]
    WHERE meter_id = meter AND version = definition_version;
    UPDATE meters SET backfill = NULL WHERE id = meter;
    PERFORM point_meter_at(meter, definition_version);
  END IF;
  RETURN catalog;
END
$$;
REVOKE ALL ON FUNCTION apply_meter_activation FROM PUBLIC;
