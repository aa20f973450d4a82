-- Claims one backfill whose input no longer changes (0010); no row when there is nothing to do.
-- Params: :lease_seconds (after which another process may try, unless progress-backfill.sql extends it).
SELECT meter_id, version, tenant_id, environment_id, event_name, filters, aggregation_type, aggregation_field,
       aggregation_expression, aggregation_multiplier, aggregation_group_by, attempts, generation, start_offsets
FROM claim_meter_backfill(:lease_seconds)
