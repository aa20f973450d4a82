-- Notes which events an attempt does not find any more, while it runs; false when another attempt has overtaken it.
CREATE OR REPLACE FUNCTION note_backfill_counts_from(
  meter text, definition_version integer, attempt integer, instant timestamptz, begin_at timestamptz
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE meter_backfills SET counts_from = instant, raw_events_begin = begin_at
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt;
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION note_backfill_counts_from FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_backfill_counts_from TO minutebook_programs;
