-- A page of the meters of one catalog version, of all tenants, in order of their generations, behind a generation. The pages
-- of a version fit together whenever they are read, since a version never changes. Index: meter_versions_generation_key.
CREATE OR REPLACE FUNCTION page_meters_of_catalog(catalog bigint, behind_generation bigint, rows_max integer)
RETURNS TABLE (meter_id text, version integer, tenant_id text, environment_id text, event_name text, filters jsonb,
  generation bigint, aggregation_type text, aggregation_field text, aggregation_expression text,
  aggregation_multiplier numeric, aggregation_group_by text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT v.meter_id, v.version, v.tenant_id, v.environment_id, v.event_name, v.filters, v.generation,
    v.aggregation_type, v.aggregation_field, v.aggregation_expression, v.aggregation_multiplier, v.aggregation_group_by
  FROM meter_versions AS v
  WHERE v.generation > behind_generation
    AND v.activated_in <= catalog AND (v.retired_in IS NULL OR v.retired_in > catalog)
  ORDER BY v.generation
  LIMIT greatest(0, least(rows_max, 1000))
$$;
REVOKE ALL ON FUNCTION page_meters_of_catalog FROM PUBLIC;
GRANT EXECUTE ON FUNCTION page_meters_of_catalog TO minutebook_programs;
