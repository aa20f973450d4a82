-- Copies it to the meter, from which the API reads it, if it belongs to the meter's newest version.
CREATE OR REPLACE FUNCTION show_meter_backfill() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE meters SET backfill = visible_backfill(NEW)
  WHERE id = NEW.meter_id AND version = NEW.version;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER show_meter_backfill AFTER INSERT OR UPDATE ON meter_backfills
  FOR EACH ROW EXECUTE FUNCTION show_meter_backfill();
