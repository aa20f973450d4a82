-- Meters of every aggregation, and meters that change (domain.md 3.2, 4, 7.4; architecture.md 3.2).
--
-- A change of filters writes a new version with rows of its own, beside the version that readers follow: both are fed. When
-- the stored events have been applied to the new one, the pointer of the meter moves in one transaction. The version it left
-- goes on being fed for a while, so that taking the change back is moving the pointer back.
--
-- Locks, always in this order: meter_backfills (aggregator only), meters, catalog_counter, meter_versions,
-- aggregator_checkpoints.

-- The state of a backfill as readers of its meter see it (api.md 3.1).
CREATE FUNCTION backfill_in_sight(backfill meter_backfills) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
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
REVOKE ALL ON FUNCTION backfill_in_sight FROM PUBLIC;

-- Carries it over to the meter, where readers of the API look, while it is of the version that the meter has now.
CREATE FUNCTION show_meter_backfill() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
  UPDATE meters SET backfill = backfill_in_sight(NEW)
  WHERE id = NEW.meter_id AND version = NEW.version;
  RETURN NULL;
END
$$;

CREATE TRIGGER show_meter_backfill AFTER INSERT OR UPDATE ON meter_backfills
  FOR EACH ROW EXECUTE FUNCTION show_meter_backfill();

-- A new number of the catalog; the lock on the counter makes the order of commits the order of the numbers.
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

-- Lets no batch start with an older catalog from now on. Afterwards coalesce(pending_end, next_offset) is the exact end of
-- what older catalogs decide: any other choice of a vector loses or doubles events (model: meter.*).
CREATE FUNCTION raise_catalog_of_partitions(catalog bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM aggregator_checkpoints ORDER BY log, partition FOR UPDATE;
  UPDATE aggregator_checkpoints SET min_version = catalog;
END
$$;
REVOKE ALL ON FUNCTION raise_catalog_of_partitions FROM PUBLIC;

-- The version whose rows readers of a meter see now; null for a meter without a pointer.
CREATE FUNCTION stream_in_sight(meter text) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT coalesce(definition.reverts_to, definition.version)
  FROM meters JOIN meter_versions AS definition
    ON definition.meter_id = meters.id AND definition.version = meters.read_version
  WHERE meters.id = meter
$$;
REVOKE ALL ON FUNCTION stream_in_sight FROM PUBLIC;

-- Moves the pointer of a meter; readers switch with the commit.
CREATE FUNCTION point_meter_at(meter text, target integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  before integer := stream_in_sight(meter);
BEGIN
  UPDATE meters SET read_version = target WHERE id = meter;
  UPDATE meter_versions SET unread_since = now()
  WHERE meter_id = meter AND version = before AND retired_in IS NULL;
  UPDATE meter_versions SET unread_since = NULL
  WHERE meter_id = meter AND version = stream_in_sight(meter);
END
$$;
REVOKE ALL ON FUNCTION point_meter_at FROM PUBLIC;

-- Puts a new definition of a meter in force, inside the transaction that writes the meter. The version that readers see is
-- fed on, every other one is retired: at most two are fed, however often a meter changes. The live stream of the new one owns
-- what lies at or above its vector, a backfill what lies below.
-- SECURITY DEFINER, since the calling role sees neither checkpoints nor other tenants.
CREATE FUNCTION activate_meter_version(
  meter text, definition_version integer, tenant text, environment text, name text, definition_filters jsonb,
  aggregation jsonb DEFAULT '{"type": "COUNT"}'
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  catalog bigint := next_catalog_version();
BEGIN
  UPDATE meter_versions SET retired_in = catalog
  WHERE meter_id = meter AND retired_in IS NULL AND version IS DISTINCT FROM stream_in_sight(meter);
  -- A change that was never completed is given up for the new one.
  DELETE FROM meter_backfills WHERE meter_id = meter AND status <> 'completed';
  INSERT INTO meter_versions
    (meter_id, version, tenant_id, environment_id, event_name, filters, activated_in,
     aggregation_type, aggregation_field, aggregation_expression, aggregation_multiplier, aggregation_group_by)
  VALUES
    (meter, definition_version, tenant, environment, name, definition_filters, catalog,
     aggregation ->> 'type', aggregation ->> 'field', aggregation ->> 'expression',
     (aggregation ->> 'multiplier')::numeric, aggregation ->> 'groupBy');
  PERFORM raise_catalog_of_partitions(catalog);
  INSERT INTO meter_vectors (meter_id, version, log, partition, live_from)
  SELECT meter, definition_version, log, partition, coalesce(pending_end, next_offset)
  FROM aggregator_checkpoints;
  IF EXISTS (SELECT FROM meter_vectors
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

-- Takes a change back inside the transaction that writes the meter: the new version shows the rows of an earlier one that is
-- complete and still fed, so readers switch at once. Versions that are neither these nor the ones just left are retired.
CREATE FUNCTION revert_meter_version(meter text, definition_version integer, stream integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  before integer := stream_in_sight(meter);
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
    RAISE EXCEPTION 'version % of % is not fed', stream, meter;
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
    (SELECT backfill_in_sight(done) FROM meter_backfills AS done
     WHERE done.meter_id = meter AND done.version = stream)
  WHERE id = meter;
END
$$;
REVOKE ALL ON FUNCTION revert_meter_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION revert_meter_version TO minutebook_app;

-- Ends the counting of a meter for good, inside the transaction that archives it: at exact offsets, which readers of events
-- keep to. A backfill that is under way goes on to its end, so the meter keeps all that came before.
CREATE FUNCTION end_meter(meter text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  catalog bigint := next_catalog_version();
BEGIN
  UPDATE meter_versions SET retired_in = catalog WHERE meter_id = meter AND retired_in IS NULL;
  PERFORM raise_catalog_of_partitions(catalog);
  INSERT INTO meter_ends (meter_id, log, partition, counted_below)
  SELECT meter, log, partition, coalesce(pending_end, next_offset) FROM aggregator_checkpoints;
END
$$;
REVOKE ALL ON FUNCTION end_meter FROM PUBLIC;
GRANT EXECUTE ON FUNCTION end_meter TO minutebook_app;

-- Makes an attempt at a backfill visible: with the commit all readers see the new version. False when another attempt has
-- taken the backfill over, has completed it, or the change was given up.
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

-- Stops feeding versions that no reader has seen for a time; they cannot be reverted to afterwards. No lock is waited for: a
-- meter that is being changed is left for the next time. Returns how many were retired.
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
