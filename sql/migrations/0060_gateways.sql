-- Payment gateways: connections that charge cards, and the signals that they send (docs/domain.md 17.6).
ALTER TABLE connections DROP CONSTRAINT connections_provider_type_check;
ALTER TABLE connections ADD CONSTRAINT connections_provider_type_check CHECK (provider_type IN ('s3', 'stripe'));
-- Where the interface of the provider is, when it is not its own address.
ALTER TABLE connections ADD COLUMN endpoint_url text;
-- Money of an environment goes one way: a charge need not choose between gateways.
CREATE UNIQUE INDEX connections_gateway ON connections (tenant_id, environment_id)
  WHERE provider_type = 'stripe' AND status = 'published';

CREATE INDEX payments_at_gateway ON payments (tenant_id, environment_id, gateway_payment_id)
  WHERE gateway_payment_id IS NOT NULL;

-- Signals that were taken: one that comes again has no second effect.
CREATE TABLE gateway_signals (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  connection_id text NOT NULL,
  -- As the gateway calls the signal.
  signal_id text NOT NULL,
  signal_type text NOT NULL,
  payment_id text NOT NULL,
  received_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, environment_id, connection_id, signal_id),
  FOREIGN KEY (tenant_id, environment_id, connection_id) REFERENCES connections (tenant_id, environment_id, id)
);
SELECT isolate_environment('gateway_signals');

-- The environment of a gateway, for a signal that comes without a key (docs/architecture.md, D-014).
CREATE FUNCTION find_gateway_environment(wanted text) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT connection.tenant_id, connection.environment_id FROM connections AS connection
  WHERE connection.id = wanted AND connection.provider_type = 'stripe' AND connection.status = 'published'
$$;
REVOKE ALL ON FUNCTION find_gateway_environment FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_gateway_environment TO minutebook_programs;
