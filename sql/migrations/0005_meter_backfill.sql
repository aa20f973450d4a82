-- Shows the state of a meter's backfill on the meter itself, where readers of the API look (api.md 3.1). meter_backfills,
-- which the aggregator works off, stays the only place that is written by hand; a trigger carries it over.
-- Null for a meter that no event had come before.
ALTER TABLE meters ADD COLUMN backfill jsonb;

CREATE FUNCTION show_meter_backfill() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
BEGIN
  UPDATE meters SET backfill = jsonb_build_object(
    'status', NEW.status,
    'events_scanned', NEW.events_scanned,
    'events_matched', NEW.events_matched,
    'started_at', to_char(NEW.started_at AT TIME ZONE 'UTC', iso),
    'completed_at', to_char(NEW.completed_at AT TIME ZONE 'UTC', iso),
    'error', NEW.error)
  WHERE id = NEW.meter_id;
  RETURN NULL;
END
$$;

CREATE TRIGGER show_meter_backfill AFTER INSERT OR UPDATE ON meter_backfills
  FOR EACH ROW EXECUTE FUNCTION show_meter_backfill();
