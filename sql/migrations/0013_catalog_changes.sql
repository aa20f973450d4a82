-- The aggregator reads the first catalog page by page, and from then on only what changed between two versions, so that a new
-- meter costs it the same beside 10 or 100,000 others. meters_of_catalog() stays for programs of the previous release, which
-- may run.
CREATE INDEX meter_versions_retired ON meter_versions (retired_in) WHERE retired_in IS NOT NULL;

-- A page of the meters of one catalog version, of all tenants, in order of their generations, behind a generation. The pages
-- of a version fit together whenever they are read, since a version never changes. Index: meter_versions_generation_key.
CREATE FUNCTION page_meters_of_catalog(catalog bigint, behind_generation bigint, rows_max integer)
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

-- The meters in which a catalog version differs from an earlier one, of all tenants; is_in_force tells whether the later
-- version has the meter. At most 1,000 versions apart. Indexes: meter_versions_in_force, meter_versions_retired.
CREATE FUNCTION changes_of_catalog(earlier bigint, later bigint)
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

REVOKE ALL ON FUNCTION page_meters_of_catalog, changes_of_catalog FROM PUBLIC;
GRANT EXECUTE ON FUNCTION page_meters_of_catalog, changes_of_catalog TO minutebook_programs;
