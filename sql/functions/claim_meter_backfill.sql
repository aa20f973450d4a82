-- Claims one backfill whose input no longer changes: every partition is finished up to the start offset of the meter
-- version. Returns the definition, its start offsets and a new generation for the attempt; no row when there is nothing
-- to do. After lease_seconds another process may try, unless progress_meter_backfill extends it.
-- No backfill begins while events of its environment are being erased: it could read some that are about to go.
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
    ORDER BY EXISTS (SELECT FROM meters WHERE meters.id = backfill.meter_id AND meters.status <> 'published'),
      backfill.started_at
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
REVOKE ALL ON FUNCTION claim_meter_backfill FROM PUBLIC;
GRANT EXECUTE ON FUNCTION claim_meter_backfill TO minutebook_programs;
