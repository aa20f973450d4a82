-- Meters of one catalog version, of all tenants; a meter that is being changed has two rows. The order never changes,
-- since the rows of a batch depend on it. Index: meter_versions_in_force.
CREATE OR REPLACE FUNCTION meters_of_catalog(catalog bigint)
RETURNS TABLE (meter_id text, version integer, tenant_id text, environment_id text, event_name text, filters jsonb,
  generation bigint, aggregation_type text, aggregation_field text, aggregation_expression text,
  aggregation_multiplier numeric, aggregation_group_by text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT v.meter_id, v.version, v.tenant_id, v.environment_id, v.event_name, v.filters, v.generation,
    v.aggregation_type, v.aggregation_field, v.aggregation_expression, v.aggregation_multiplier, v.aggregation_group_by
  FROM meter_versions AS v
  WHERE v.activated_in <= catalog AND (v.retired_in IS NULL OR v.retired_in > catalog)
  ORDER BY v.meter_id, v.generation
$$;
REVOKE ALL ON FUNCTION meters_of_catalog FROM PUBLIC;
GRANT EXECUTE ON FUNCTION meters_of_catalog TO minutebook_programs;
