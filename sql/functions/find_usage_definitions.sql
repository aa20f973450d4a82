-- Watermark, customers and meters of one environment. It enters the environment as Database.asEnvironment does, with the rights of
-- its caller and until the end of its transaction, so that row-level security binds what it reads of a tenant. Customers and meters
-- come from one snapshot; the watermark is read before them, while the caller is outside any environment.
CREATE OR REPLACE FUNCTION find_usage_definitions(of_tenant text, of_environment text, meter_ids text[], external_ids text[],
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
  ), (SELECT coalesce(json_agg(meters), '[]') FROM read_effective_meters(meter_ids) AS meters)
  INTO found_customers, found_meters;
  RETURN NEXT;
END
$$;
REVOKE ALL ON FUNCTION find_usage_definitions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_usage_definitions TO minutebook_programs;
