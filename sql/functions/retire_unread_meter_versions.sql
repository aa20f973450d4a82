-- Retires versions that no reader has seen for a time: the aggregator no longer adds to them, and they cannot be restored. It
-- waits for no lock: a meter that is being changed is left for the next call. Returns how many were retired.
CREATE OR REPLACE FUNCTION retire_unread_meter_versions(unread_for interval, versions_max integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF unread_for IS NULL OR unread_for < interval '0' OR versions_max IS NULL OR versions_max < 1 THEN
    RAISE EXCEPTION 'the time must not be negative, and versions_max at least 1'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN apply_meter_retirement(unread_for, versions_max);
END
$$;
REVOKE ALL ON FUNCTION retire_unread_meter_versions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION retire_unread_meter_versions TO minutebook_programs;
