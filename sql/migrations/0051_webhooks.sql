-- Where system events are sent to, and what became of each (docs/http.md 11).
CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  url text NOT NULL,
  -- Names of events; null for all of them.
  event_types jsonb,
  description text,
  enabled boolean NOT NULL DEFAULT true,
  disabled_reason text,
  -- Sealed with the key of the configuration. The previous one signs too until its time is over.
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_until timestamptz(3),
  -- The number of the last system event for which deliveries were made.
  taken_until bigint NOT NULL CHECK (taken_until >= 0),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE INDEX webhook_endpoints_newest ON webhook_endpoints (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('webhook_endpoints');

CREATE TABLE webhook_deliveries (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  endpoint_id text NOT NULL,
  -- Null for a test.
  event_id text,
  delivery_status text NOT NULL CHECK (delivery_status IN ('pending', 'delivered', 'failed', 'skipped')),
  attempts jsonb NOT NULL DEFAULT '[]',
  -- By the clock of the machine; null when no attempt follows.
  next_attempt_at timestamptz(3),
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  UNIQUE (tenant_id, environment_id, id),
  UNIQUE (tenant_id, environment_id, endpoint_id, event_id),
  FOREIGN KEY (tenant_id, environment_id, endpoint_id) REFERENCES webhook_endpoints (tenant_id, environment_id, id),
  FOREIGN KEY (event_id) REFERENCES system_events (id)
);
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (tenant_id, environment_id, created_at, id);
CREATE INDEX webhook_deliveries_of_event ON webhook_deliveries (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (tenant_id, environment_id, endpoint_id, next_attempt_at)
  WHERE delivery_status = 'pending';
SELECT isolate_environment('webhook_deliveries');

-- The endpoints for which something is to be sent, for the job that looks for them (docs/architecture.md, D-014).
CREATE FUNCTION list_webhooks_due(at timestamptz, count_max integer) RETURNS TABLE (tenant_id text, environment_id text, endpoint_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT endpoint.tenant_id, endpoint.environment_id, endpoint.id FROM webhook_endpoints AS endpoint
  WHERE endpoint.enabled AND endpoint.status = 'published'
    AND (EXISTS (
        SELECT FROM system_event_counters AS counter
        WHERE counter.tenant_id = endpoint.tenant_id AND counter.environment_id = endpoint.environment_id
          AND counter.last_sequence > endpoint.taken_until)
      OR EXISTS (
        SELECT FROM webhook_deliveries AS delivery
        WHERE delivery.tenant_id = endpoint.tenant_id AND delivery.environment_id = endpoint.environment_id
          AND delivery.endpoint_id = endpoint.id AND delivery.delivery_status = 'pending' AND delivery.next_attempt_at <= at))
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_webhooks_due FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_webhooks_due TO minutebook_programs;
