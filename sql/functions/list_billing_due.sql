-- Environments in which something of the billing run is due, by the clock of each.
CREATE OR REPLACE FUNCTION list_billing_due(at timestamptz, count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT environment.tenant_id, environment.id FROM environments AS environment
  CROSS JOIN LATERAL (SELECT coalesce(find_test_clock(environment.tenant_id, environment.id), at) AS now OFFSET 0) AS clock
  WHERE EXISTS (SELECT FROM due_items(environment.tenant_id, environment.id, '-infinity', clock.now))
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_billing_due FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_billing_due TO minutebook_programs;
