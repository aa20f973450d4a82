-- Retention of raw events (D-020). Programs of the previous release may run, as long as no aggregator has a retention.
--
-- Months of append whose raw events have been removed or are about to be. They are all counted in expired_events_v1. From the
-- commit on nobody relies on events that the log appended before the end of the last of these months.
CREATE TABLE expired_months (
  -- The first day of the month, in UTC.
  append_month date PRIMARY KEY CHECK (extract(day FROM append_month) = 1),
  expired_at timestamptz(3) NOT NULL DEFAULT now(),
  -- When its events were removed; null until then.
  removed_at timestamptz(3)
);
GRANT SELECT, UPDATE (removed_at) ON expired_months TO minutebook_programs;
GRANT SELECT ON expired_months TO minutebook_app;

-- Raw events that the log appended before this instant are removed, or are about to be; null while all are kept. It only rises.
CREATE FUNCTION raw_events_begin_at() RETURNS timestamptz LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT (max(append_month) + interval '1 month') AT TIME ZONE 'UTC' FROM expired_months
$$;
REVOKE ALL ON FUNCTION raw_events_begin_at FROM PUBLIC;
GRANT EXECUTE ON FUNCTION raw_events_begin_at TO minutebook_programs, minutebook_app;

-- The environments that had events in these months.
CREATE TABLE expired_month_environments (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  append_month date NOT NULL REFERENCES expired_months,
  PRIMARY KEY (tenant_id, environment_id, append_month)
);
SELECT isolate_environment('expired_month_environments');
REVOKE INSERT, UPDATE, DELETE ON expired_month_environments FROM minutebook_app;

-- counts_from: the instant before which a version of a meter counts no events, because they had been removed; null when it counts
-- them all. raw_events_begin: raw_events_begin_at() when the version was applied to the stored events.
ALTER TABLE meter_backfills
  ADD COLUMN counts_from timestamptz(3),
  ADD COLUMN raw_events_begin timestamptz(3);

-- Whether any version of a meter is still to be applied to stored events.
CREATE FUNCTION is_backfill_pending() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM meter_backfills WHERE status <> 'completed')
$$;

-- Lets a month of append expire, in which these environments have events: [{"tenant", "environment"}]. False, and nothing is changed, while a meter is being applied to stored events: that meter
-- shall have them. The lock on the counter, which every change of a meter takes, decides which of the two came first.
CREATE FUNCTION expire_month(month date, environments jsonb) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
  IF month IS NULL OR extract(day FROM month) <> 1 OR month > now() - interval '2 months' THEN
    RAISE EXCEPTION 'a month must be given by its first day, and be over for a month'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM 1 FROM catalog_counter FOR UPDATE;
  IF is_backfill_pending() THEN
    RETURN false;
  END IF;
  INSERT INTO expired_months (append_month) VALUES (month) ON CONFLICT DO NOTHING;
  INSERT INTO expired_month_environments (tenant_id, environment_id, append_month)
  SELECT one ->> 'tenant', one ->> 'environment', month FROM jsonb_array_elements(environments) AS one
  ON CONFLICT DO NOTHING;
  RETURN true;
END
$$;

-- Notes which events an attempt does not find any more, while it runs; false when another attempt has overtaken it.
CREATE FUNCTION note_backfill_counts_from(
  meter text, definition_version integer, attempt integer, instant timestamptz, begin_at timestamptz
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE meter_backfills SET counts_from = instant, raw_events_begin = begin_at
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt;
  RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION is_backfill_pending, expire_month, note_backfill_counts_from FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_backfill_pending, expire_month, note_backfill_counts_from TO minutebook_programs;

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
