-- How a meter changes (docs/domain.md 3.2, 4, 7.4; docs/architecture.md 3.2).
--
-- A change of the filters makes a new version with usage rows of its own, beside the version that readers see: the aggregator
-- adds to both. When the stored events have been applied to the new one, one transaction makes readers see it. The aggregator
-- goes on adding to the previous version for a while, so that the change can be taken back at once.
--
-- Locks, always in this order: meter_backfills (aggregator only), meters, catalog_counter, meter_versions,
-- aggregator_checkpoints.

-- The state of a backfill as readers of its meter see it.
CREATE FUNCTION visible_backfill(backfill meter_backfills) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
BEGIN
  RETURN jsonb_build_object(
    'status', backfill.status,
    'events_scanned', backfill.events_scanned,
    'events_matched', backfill.events_matched,
    'started_at', to_char(backfill.started_at AT TIME ZONE 'UTC', iso),
    'completed_at', to_char(backfill.completed_at AT TIME ZONE 'UTC', iso),
    'error', backfill.error);
END
$$;
REVOKE ALL ON FUNCTION visible_backfill FROM PUBLIC;

-- Copies it to the meter, from which the API reads it, if it belongs to the meter's newest version.
CREATE FUNCTION show_meter_backfill() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
  UPDATE meters SET backfill = visible_backfill(NEW)
  WHERE id = NEW.meter_id AND version = NEW.version;
  RETURN NULL;
END
$$;

CREATE TRIGGER show_meter_backfill AFTER INSERT OR UPDATE ON meter_backfills
  FOR EACH ROW EXECUTE FUNCTION show_meter_backfill();

-- The next catalog version. The lock on the counter makes the order of commits the order of the numbers.
CREATE FUNCTION next_catalog_version() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  catalog bigint;
BEGIN
  UPDATE catalog_counter SET version = version + 1 RETURNING version INTO catalog;
  INSERT INTO catalog_versions (version) VALUES (catalog);
  RETURN catalog;
END
$$;
REVOKE ALL ON FUNCTION next_catalog_version FROM PUBLIC;

-- From now on no batch starts with an older catalog. Therefore coalesce(intent_end, next_offset) is exactly where older
-- catalogs stop to apply: any other start offset loses or doubles events (docs/protocol-model: meter.*).
CREATE FUNCTION raise_catalog_of_partitions(catalog bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM aggregator_checkpoints ORDER BY log, partition FOR UPDATE;
  UPDATE aggregator_checkpoints SET min_version = catalog;
END
$$;
REVOKE ALL ON FUNCTION raise_catalog_of_partitions FROM PUBLIC;

-- The version whose usage rows readers of a meter see now; null for a meter that does not exist.
CREATE FUNCTION visible_meter_version(meter text) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT coalesce(definition.reverts_to, definition.version)
  FROM meters JOIN meter_versions AS definition
    ON definition.meter_id = meters.id AND definition.version = meters.read_version
  WHERE meters.id = meter
$$;
REVOKE ALL ON FUNCTION visible_meter_version FROM PUBLIC;

-- Makes readers see another version of a meter, from the commit on.
CREATE FUNCTION point_meter_at(meter text, target integer) RETURNS void LANGUAGE plpgsql AS $$
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

-- Activates a new definition of a meter, inside the transaction that writes the meter. The aggregator goes on adding to the
-- version that readers see, and every other version is retired: it adds to two at most, however often a meter changes. The
-- live stream of the new version counts the events from its start offsets on, a backfill counts the events below.
-- SECURITY DEFINER, since the calling role may see neither checkpoints nor other tenants.
CREATE FUNCTION activate_meter_version(
  meter text, definition_version integer, tenant text, environment text, name text, definition_filters jsonb,
  aggregation jsonb DEFAULT '{"type": "COUNT"}'
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
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
REVOKE ALL ON FUNCTION activate_meter_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION activate_meter_version TO minutebook_app;

-- Takes a change back, inside the transaction that writes the meter: the new version shows the usage rows of an earlier one
-- that is complete and still added to, so that readers switch at once. All versions but this one and the one that readers
-- leave are retired.
CREATE FUNCTION revert_meter_version(meter text, definition_version integer, stream integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
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
REVOKE ALL ON FUNCTION revert_meter_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION revert_meter_version TO minutebook_app;

-- Stops the counting of a meter for good, inside the transaction that archives it, at exact offsets, which readers of events
-- respect. A backfill that is running goes on to its end, so that the meter keeps all earlier events.
CREATE FUNCTION end_meter(meter text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  catalog bigint := next_catalog_version();
BEGIN
  UPDATE meter_versions SET retired_in = catalog WHERE meter_id = meter AND retired_in IS NULL;
  PERFORM raise_catalog_of_partitions(catalog);
  INSERT INTO meter_ends (meter_id, log, partition, counted_below)
  SELECT meter, log, partition, coalesce(intent_end, next_offset) FROM aggregator_checkpoints;
END
$$;
REVOKE ALL ON FUNCTION end_meter FROM PUBLIC;
GRANT EXECUTE ON FUNCTION end_meter TO minutebook_app;

-- Completes a backfill: from the commit on all readers see the new version. False when another attempt has taken the backfill
-- over or completed it, or when the change was given up.
CREATE FUNCTION complete_meter_backfill(
  meter text, definition_version integer, attempt integer, attempt_generation bigint, scanned bigint, matched bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE meter_backfills
  SET status = 'completed', completed_at = now(), error = NULL, claimed_until = NULL,
      events_scanned = scanned, events_matched = matched
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE meter_versions SET read_generations = ARRAY[generation, attempt_generation]
  WHERE meter_id = meter AND version = definition_version;
  PERFORM point_meter_at(meter, definition_version);
  RETURN true;
END
$$;
REVOKE ALL ON FUNCTION complete_meter_backfill FROM PUBLIC;

-- Retires versions that no reader has seen for a time: the aggregator no longer adds to them, and they cannot be restored. It
-- waits for no lock: a meter that is being changed is left for the next call. Returns how many were retired.
CREATE FUNCTION retire_unread_meter_versions(unread_for interval, versions_max integer) RETURNS integer
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
REVOKE ALL ON FUNCTION retire_unread_meter_versions FROM PUBLIC;
