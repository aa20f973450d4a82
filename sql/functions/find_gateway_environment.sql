-- The environment of a gateway, for a signal that comes without a key (docs/internals/architecture.md, D-014).
CREATE OR REPLACE FUNCTION find_gateway_environment(wanted text) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT connection.tenant_id, connection.environment_id FROM connections AS connection
  WHERE connection.id = wanted AND connection.provider_type = 'stripe' AND connection.status = 'published'
$$;
REVOKE ALL ON FUNCTION find_gateway_environment FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_gateway_environment TO minutebook_programs;
