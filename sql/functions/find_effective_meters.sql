-- As read_effective_meters, without corrections: programs of the release before read it.
CREATE OR REPLACE FUNCTION find_effective_meters(ids text[])
RETURNS TABLE (meter_id text, version integer, event_name text, filters jsonb, aggregation_type text, aggregation_field text,
  aggregation_expression text, aggregation_multiplier text, aggregation_group_by text, bucket_size text, reset_usage text,
  generations text[], ends json)
LANGUAGE sql STABLE AS $$
  SELECT meter_id, version, event_name, filters, aggregation_type, aggregation_field,
    aggregation_expression, aggregation_multiplier, aggregation_group_by, bucket_size, reset_usage,
    generations, ends
  FROM read_effective_meters(ids)
$$;
REVOKE ALL ON FUNCTION find_effective_meters FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_effective_meters TO minutebook_app;
