-- Erasing the events of a customer (docs/architecture.md D-019): what was erased, so that the reconciliation still balances, the
-- last batch of a partition is still found whole, and no meter counts events that are about to go. Written by
-- `minutebook customers erase`. Safe while programs of the previous release run; but such an aggregator halts a partition
-- whose last batch has lost events, so replace the aggregators before the first erasure.

CREATE TABLE event_erasures (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  -- As the operator named the customer.
  customer text NOT NULL,
  -- The references of the events (customerKeyOfEvent): an interrupted erasure is found by them. Empty when it is finished.
  customer_keys text[] NOT NULL,
  -- Of every partition, the offset below which the events go: [{log, partition, below}]. Null until they have been counted.
  bounds jsonb,
  started_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE INDEX event_erasures_of_environment ON event_erasures (tenant_id, environment_id, finished_at);
SELECT isolate_environment('event_erasures');
REVOKE DELETE ON event_erasures FROM minutebook_app;

-- How many events an erasure has removed, by hour of receipt.
CREATE TABLE erased_events (
  erasure_id text NOT NULL REFERENCES event_erasures ON DELETE CASCADE,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  hour timestamptz(3) NOT NULL,
  events bigint NOT NULL CHECK (events > 0),
  PRIMARY KEY (erasure_id, hour)
);
CREATE INDEX erased_events_of_hour ON erased_events (hour, tenant_id, environment_id);
SELECT isolate_environment('erased_events');
REVOKE INSERT, UPDATE, DELETE ON erased_events FROM minutebook_app;

-- How many events of a batch were erased that was the last finished one of its partition: a new owner finds so many fewer.
CREATE TABLE erased_batches (
  log text NOT NULL,
  partition integer NOT NULL,
  batch_start bigint NOT NULL,
  events integer NOT NULL CHECK (events > 0),
  PRIMARY KEY (log, partition, batch_start)
);
GRANT SELECT ON erased_batches TO minutebook_programs;

-- For the reconciliation of all tenants. At most 31 days.
CREATE FUNCTION list_erased_events(from_hour timestamptz, until_hour timestamptz)
RETURNS TABLE (tenant_id text, environment_id text, hour timestamptz, events bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF from_hour IS NULL OR until_hour IS NULL OR until_hour - from_hour NOT BETWEEN interval '0' AND interval '31 days' THEN
    RAISE EXCEPTION 'the hours must be in order and at most 31 days apart' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY
  SELECT erased.tenant_id, erased.environment_id, erased.hour, sum(erased.events)::bigint
  FROM erased_events AS erased WHERE erased.hour >= from_hour AND erased.hour < until_hour
  GROUP BY erased.tenant_id, erased.environment_id, erased.hour;
END
$$;

-- Environments whose stored events were being erased at some time since this one: two readings from then to now may
-- disagree. An erasure removes nothing before it has counted, and has removed everything when it is finished.
CREATE FUNCTION list_environments_with_erasures(since timestamptz)
RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT erasure.tenant_id, erasure.environment_id FROM event_erasures AS erasure
  WHERE erasure.bounds IS NOT NULL AND (erasure.finished_at IS NULL OR erasure.finished_at >= since)
$$;

REVOKE ALL ON FUNCTION list_erased_events, list_environments_with_erasures FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_erased_events, list_environments_with_erasures TO minutebook_programs;

-- As in 0010, and no backfill begins while events of its environment are being erased: it could read some that are about to go.
CREATE OR REPLACE FUNCTION claim_meter_backfill(lease_seconds double precision)
RETURNS TABLE (meter_id text, version integer, tenant_id text, environment_id text, event_name text, filters jsonb,
  aggregation_type text, aggregation_field text, aggregation_expression text, aggregation_multiplier numeric,
  aggregation_group_by text, attempts integer, generation bigint, start_offsets json)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH ready AS (
    SELECT backfill.meter_id, backfill.version
    FROM meter_backfills AS backfill
    WHERE lease_seconds > 0 AND backfill.status <> 'completed'
      AND (backfill.claimed_until IS NULL OR backfill.claimed_until < now())
      AND NOT EXISTS (
        SELECT FROM event_erasures AS erasure
        WHERE erasure.tenant_id = backfill.tenant_id AND erasure.environment_id = backfill.environment_id
          AND erasure.finished_at IS NULL)
      AND NOT EXISTS (
        SELECT FROM meter_start_offsets AS start
        JOIN aggregator_checkpoints AS checkpoint USING (log, partition)
        WHERE start.meter_id = backfill.meter_id AND start.version = backfill.version
          AND checkpoint.next_offset < start.live_from)
    ORDER BY backfill.started_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE meter_backfills
    SET status = 'running', claimed_until = now() + make_interval(secs => lease_seconds),
        attempts = meter_backfills.attempts + 1, events_scanned = 0, events_matched = 0
    FROM ready
    WHERE meter_backfills.meter_id = ready.meter_id AND meter_backfills.version = ready.version
    RETURNING meter_backfills.meter_id, meter_backfills.version, meter_backfills.attempts
  )
  SELECT definition.meter_id, definition.version, definition.tenant_id, definition.environment_id,
         definition.event_name, definition.filters, definition.aggregation_type, definition.aggregation_field,
         definition.aggregation_expression, definition.aggregation_multiplier, definition.aggregation_group_by,
         claimed.attempts,
         nextval(pg_get_serial_sequence('meter_versions', 'generation')),
         (SELECT json_agg(json_build_object('log', log, 'partition', partition, 'liveFrom', live_from)
                          ORDER BY log, partition)
          FROM meter_start_offsets AS start
          WHERE start.meter_id = claimed.meter_id AND start.version = claimed.version
            AND live_from > 0)
  FROM claimed JOIN meter_versions AS definition
    ON definition.meter_id = claimed.meter_id AND definition.version = claimed.version
$$;

-- As in 0005 and 0010, and no backfill is completed while events of its environment are being erased. Its row is locked first: an
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
