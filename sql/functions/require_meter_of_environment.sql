-- Raises an error unless the transaction has entered this environment, and the meter, when it is known, belongs to it.
CREATE OR REPLACE FUNCTION require_meter_of_environment(meter text, tenant text, environment text) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF tenant IS DISTINCT FROM nullif(current_setting('minutebook.tenant_id', true), '')
    OR environment IS DISTINCT FROM nullif(current_setting('minutebook.environment_id', true), '')
    OR tenant IS NULL OR environment IS NULL
    OR EXISTS (SELECT FROM meters WHERE id = meter AND (tenant_id, environment_id) <> (tenant, environment))
    OR EXISTS (SELECT FROM meter_versions
               WHERE meter_id = meter AND (tenant_id, environment_id) <> (tenant, environment)) THEN
    RAISE EXCEPTION 'meter % is not of the environment of this transaction', meter
      USING ERRCODE = 'insufficient_privilege';
  END IF;
END
$$;
REVOKE ALL ON FUNCTION require_meter_of_environment FROM PUBLIC;
