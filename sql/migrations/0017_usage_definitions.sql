-- What a usage query must know of PostgreSQL comes from one statement: a round trip costs a small query more than its reading.
-- Programs of the previous release may run: they ask for the same with statements of their own.

-- Meters as their readers must read them now, each with its generations; all of one version. Unknown ids are left out.
-- Of an archived meter `ends` says where each partition stopped counting. A version that takes a change back has the rows of the
-- version to which it reverts. Runs with the rights of its caller: row-level security binds it like the text of a statement.
CREATE FUNCTION find_effective_meters(ids text[])
RETURNS TABLE (meter_id text, version integer, event_name text, filters jsonb, aggregation_type text, aggregation_field text,
  aggregation_expression text, aggregation_multiplier text, aggregation_group_by text, bucket_size text, reset_usage text,
  generations text[], ends json)
LANGUAGE sql STABLE AS $$
  SELECT v.meter_id, v.version, v.event_name, v.filters,
    v.aggregation_type, v.aggregation_field, v.aggregation_expression,
    v.aggregation_multiplier::text, v.aggregation_group_by, meters.bucket_size, meters.reset_usage,
    stream.read_generations::text[],
    CASE WHEN meters.status = 'archived' THEN (
      SELECT coalesce(json_agg(json_build_object('log', log, 'partition', partition,
        'countedBelow', counted_below) ORDER BY log, partition), '[]')
      FROM meter_ends WHERE meter_ends.meter_id = meters.id) END
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
REVOKE ALL ON FUNCTION find_effective_meters FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_effective_meters TO minutebook_app;

-- When the log in PostgreSQL was asked, and when its oldest unfinished batch was appended, NULL for none. `is_known` is false while
-- there is no log.
CREATE FUNCTION find_pending_append()
RETURNS TABLE (asked_at timestamptz(3), is_known boolean, pending_since timestamptz(3)) LANGUAGE sql AS $$
  SELECT clock_timestamp()::timestamptz(3), count(p.partition) > 0, min(pending.appended_at)
  FROM (SELECT) AS always
  LEFT JOIN event_logs l ON true
  LEFT JOIN event_log_partitions p ON l.log_id IS NOT NULL
  LEFT JOIN aggregator_checkpoints c ON c.log = l.log_id AND c.partition = p.partition
  LEFT JOIN LATERAL (
    SELECT b.appended_at FROM event_log_batches b
    WHERE b.partition = p.partition AND b.end_offset > coalesce(c.next_offset, 0)
    ORDER BY b.end_offset LIMIT 1
  ) AS pending ON true
$$;
REVOKE ALL ON FUNCTION find_pending_append FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_pending_append TO minutebook_programs;

-- Watermark, customers and meters of one environment. It enters the environment as Database.asEnvironment does, with the rights of
-- its caller and until the end of its transaction, so that row-level security binds what it reads of a tenant. Customers and meters
-- come from one snapshot; the watermark is read before them, while the caller is outside any environment.
CREATE FUNCTION find_usage_definitions(of_tenant text, of_environment text, meter_ids text[], external_ids text[],
  customer_id text, wants_watermark boolean)
RETURNS TABLE (asked_at timestamptz(3), is_known boolean, pending_since timestamptz(3), found_customers json, found_meters json)
LANGUAGE plpgsql AS $$
BEGIN
  IF wants_watermark THEN
    SELECT log.asked_at, log.is_known, log.pending_since INTO asked_at, is_known, pending_since
    FROM find_pending_append() AS log;
  END IF;
  PERFORM set_config('role', 'minutebook_app', true),
    set_config('minutebook.tenant_id', of_tenant, true), set_config('minutebook.environment_id', of_environment, true);
  SELECT (
    SELECT coalesce(json_agg(json_build_object('id', named.id, 'external_id', named.external_id, 'timezone', named.timezone)), '[]')
    FROM (
      SELECT customers.id, customers.external_id, customers.timezone FROM customers
      WHERE customers.external_id = ANY (external_ids) AND customers.status = 'published'
        AND customers.tenant_id = of_tenant AND customers.environment_id = of_environment
      UNION ALL
      SELECT customers.id, customers.external_id, customers.timezone FROM customers
      WHERE customers.id = customer_id
        AND customers.tenant_id = of_tenant AND customers.environment_id = of_environment
    ) AS named
  ), (SELECT coalesce(json_agg(meters), '[]') FROM find_effective_meters(meter_ids) AS meters)
  INTO found_customers, found_meters;
  RETURN NEXT;
END
$$;
REVOKE ALL ON FUNCTION find_usage_definitions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_usage_definitions TO minutebook_programs;
