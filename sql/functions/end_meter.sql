-- Stops the counting of a meter of the environment of the transaction (apply_meter_end). It waits for a lock for a short time only.
CREATE OR REPLACE FUNCTION end_meter(meter text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
  PERFORM require_meter_of_environment(
    meter, current_setting('minutebook.tenant_id', true), current_setting('minutebook.environment_id', true));
  PERFORM apply_meter_end(meter);
END
$$;
REVOKE ALL ON FUNCTION end_meter FROM PUBLIC;
GRANT EXECUTE ON FUNCTION end_meter TO minutebook_app;
