-- Claims one backfill whose input no longer changes: every partition is finished up to the start offset of the meter version.
-- Returns the definition, its start offsets and a new generation for the attempt; no row when there is nothing to do.
-- Params: :lease_seconds (after which another process may try, unless progress-backfill.sql extends it).
WITH ready AS (
  SELECT backfill.meter_id, backfill.version
  FROM meter_backfills AS backfill
  WHERE backfill.status <> 'completed'
    AND (backfill.claimed_until IS NULL OR backfill.claimed_until < now())
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
  SET status = 'running', claimed_until = now() + make_interval(secs => :lease_seconds),
      attempts = attempts + 1, events_scanned = 0, events_matched = 0
  FROM ready
  WHERE meter_backfills.meter_id = ready.meter_id AND meter_backfills.version = ready.version
  RETURNING meter_backfills.meter_id, meter_backfills.version, meter_backfills.attempts
)
SELECT definition.meter_id, definition.version, definition.tenant_id, definition.environment_id,
       definition.event_name, definition.filters, definition.aggregation_type, definition.aggregation_field,
       definition.aggregation_expression, definition.aggregation_multiplier, definition.aggregation_group_by,
       claimed.attempts,
       nextval(pg_get_serial_sequence('meter_versions', 'generation')) AS generation,
       (SELECT json_agg(json_build_object('log', log, 'partition', partition, 'liveFrom', live_from)
                        ORDER BY log, partition)
        FROM meter_start_offsets AS start
        WHERE start.meter_id = claimed.meter_id AND start.version = claimed.version
          AND live_from > 0) AS start_offsets
FROM claimed JOIN meter_versions AS definition USING (meter_id, version)
