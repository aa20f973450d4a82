-- The meters in which a catalog version differs from an earlier one, of all tenants; is_in_force tells whether the later
-- version has the meter. At most 1,000 versions apart. Indexes: meter_versions_in_force, meter_versions_retired.
CREATE OR REPLACE FUNCTION changes_of_catalog(earlier bigint, later bigint)
RETURNS TABLE (meter_id text, version integer, tenant_id text, environment_id text, event_name text, filters jsonb,
  generation bigint, aggregation_type text, aggregation_field text, aggregation_expression text,
  aggregation_multiplier numeric, aggregation_group_by text, is_in_force boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF earlier IS NULL OR later IS NULL OR later - earlier NOT BETWEEN 0 AND 1000 THEN
    RAISE EXCEPTION 'the versions must be in order and at most 1000 apart' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY
  SELECT v.meter_id, v.version, v.tenant_id, v.environment_id, v.event_name, v.filters, v.generation,
    v.aggregation_type, v.aggregation_field, v.aggregation_expression, v.aggregation_multiplier, v.aggregation_group_by,
    true
  FROM meter_versions AS v
  WHERE v.activated_in > earlier AND v.activated_in <= later AND (v.retired_in IS NULL OR v.retired_in > later)
  UNION ALL
  SELECT v.meter_id, v.version, v.tenant_id, v.environment_id, v.event_name, v.filters, v.generation,
    v.aggregation_type, v.aggregation_field, v.aggregation_expression, v.aggregation_multiplier, v.aggregation_group_by,
    false
  FROM meter_versions AS v
  WHERE v.retired_in > earlier AND v.retired_in <= later AND v.activated_in <= earlier;
END
$$;
REVOKE ALL ON FUNCTION changes_of_catalog FROM PUBLIC;
GRANT EXECUTE ON FUNCTION changes_of_catalog TO minutebook_programs;
