-- As of 0005, with counts_from.
CREATE OR REPLACE FUNCTION visible_backfill(backfill meter_backfills) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
BEGIN
  RETURN jsonb_build_object(
    'status', backfill.status,
    'events_scanned', backfill.events_scanned,
    'events_matched', backfill.events_matched,
    'started_at', to_char(backfill.started_at AT TIME ZONE 'UTC', iso),
    'completed_at', to_char(backfill.completed_at AT TIME ZONE 'UTC', iso),
    'counts_from', to_char(backfill.counts_from AT TIME ZONE 'UTC', iso),
    'error', backfill.error);
END
$$;
REVOKE ALL ON FUNCTION visible_backfill FROM PUBLIC;
