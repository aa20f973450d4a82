-- The environments that have a gateway.
CREATE OR REPLACE FUNCTION list_gateway_environments(count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT connection.tenant_id, connection.environment_id FROM connections AS connection
  WHERE connection.provider_type = 'stripe' AND connection.status = 'published'
  ORDER BY connection.tenant_id, connection.environment_id LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_gateway_environments FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_gateway_environments TO minutebook_programs;
