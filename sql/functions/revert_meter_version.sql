-- Takes a change of a meter of the environment of the transaction back (apply_meter_reversal). It waits for a lock for a short time only.
CREATE OR REPLACE FUNCTION revert_meter_version(meter text, definition_version integer, stream integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
  PERFORM require_meter_of_environment(
    meter, current_setting('minutebook.tenant_id', true), current_setting('minutebook.environment_id', true));
  PERFORM apply_meter_reversal(meter, definition_version, stream);
END
$$;
REVOKE ALL ON FUNCTION revert_meter_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION revert_meter_version TO minutebook_app;
