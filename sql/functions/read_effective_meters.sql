-- Meters as their readers must read them now, each with its generations; all of one version. Unknown ids are left out.
-- Of an archived meter `ends` says where each partition stopped counting. A version that takes a change back has the rows of the
-- version to which it reverts. Runs with the rights of its caller: row-level security binds it like the text of a statement.
CREATE OR REPLACE FUNCTION read_effective_meters(ids text[])
RETURNS TABLE (meter_id text, version integer, event_name text, filters jsonb, aggregation_type text, aggregation_field text,
  aggregation_expression text, aggregation_multiplier text, aggregation_group_by text, bucket_size text, reset_usage text,
  generations text[], ends json, corrections json)
LANGUAGE sql STABLE AS $$
  SELECT v.meter_id, v.version, v.event_name, v.filters,
    v.aggregation_type, v.aggregation_field, v.aggregation_expression,
    v.aggregation_multiplier::text, v.aggregation_group_by, meters.bucket_size, meters.reset_usage,
    stream.read_generations::text[],
    CASE WHEN meters.status = 'archived' THEN (
      SELECT coalesce(json_agg(json_build_object('log', log, 'partition', partition,
        'countedBelow', counted_below) ORDER BY log, partition), '[]')
      FROM meter_ends WHERE meter_ends.meter_id = meters.id) END,
    list_event_corrections(v.event_name)
  FROM meters
  JOIN meter_versions v ON v.meter_id = meters.id AND v.version = meters.read_version
  JOIN meter_versions stream
    ON stream.meter_id = v.meter_id AND stream.version = coalesce(v.reverts_to, v.version)
  WHERE meters.id = ANY (ids)
    AND meters.tenant_id = current_setting('minutebook.tenant_id', true)
    AND meters.environment_id = current_setting('minutebook.environment_id', true)
    AND v.tenant_id = current_setting('minutebook.tenant_id', true)
    AND v.environment_id = current_setting('minutebook.environment_id', true)
    AND stream.tenant_id = current_setting('minutebook.tenant_id', true)
    AND stream.environment_id = current_setting('minutebook.environment_id', true)
$$;
REVOKE ALL ON FUNCTION read_effective_meters FROM PUBLIC;
GRANT EXECUTE ON FUNCTION read_effective_meters TO minutebook_app;
