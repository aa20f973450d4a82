-- Activates a new definition of a meter of the environment of the transaction (apply_meter_activation). It waits for a lock for a short
-- time only.
CREATE OR REPLACE FUNCTION activate_meter_version(
  meter text, definition_version integer, tenant text, environment text, name text, definition_filters jsonb,
  aggregation jsonb DEFAULT '{"type": "COUNT"}'
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
  PERFORM require_meter_of_environment(meter, tenant, environment);
  RETURN apply_meter_activation(
    meter, definition_version, tenant, environment, name, definition_filters, aggregation);
END
$$;
REVOKE ALL ON FUNCTION activate_meter_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION activate_meter_version TO minutebook_app;
