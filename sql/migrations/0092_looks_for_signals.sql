-- Signals of a gateway that were lost are looked for there (docs/domain.md 17.9). Programs of the previous release may run: they do not look.
-- Up to when the signals of the account were read; null: not yet.
ALTER TABLE connections ADD COLUMN signals_read_until timestamptz(3);

-- Payments that a gateway may still tell of.
CREATE INDEX payments_in_process ON payments (tenant_id, environment_id, id)
  WHERE payment_status = 'PROCESSING' OR payment_url IS NOT NULL;

-- The environments that have a gateway.
CREATE FUNCTION list_gateway_environments(count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT connection.tenant_id, connection.environment_id FROM connections AS connection
  WHERE connection.provider_type = 'stripe' AND connection.status = 'published'
  ORDER BY connection.tenant_id, connection.environment_id LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_gateway_environments FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_gateway_environments TO minutebook_programs;
