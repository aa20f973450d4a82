-- For the reconciliation of all tenants. At most 31 days.
CREATE OR REPLACE FUNCTION list_erased_events(from_hour timestamptz, until_hour timestamptz)
RETURNS TABLE (tenant_id text, environment_id text, hour timestamptz, events bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF from_hour IS NULL OR until_hour IS NULL OR until_hour - from_hour NOT BETWEEN interval '0' AND interval '31 days' THEN
    RAISE EXCEPTION 'the hours must be in order and at most 31 days apart' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY
  SELECT erased.tenant_id, erased.environment_id, erased.hour, sum(erased.events)::bigint
  FROM erased_events AS erased WHERE erased.hour >= from_hour AND erased.hour < until_hour
  GROUP BY erased.tenant_id, erased.environment_id, erased.hour;
END
$$;
REVOKE ALL ON FUNCTION list_erased_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_erased_events TO minutebook_programs;
