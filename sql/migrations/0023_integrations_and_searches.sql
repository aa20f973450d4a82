-- What a customer is called at other providers, and indexes for searches of many records. Programs of the previous release may
-- run: they know no mappings. Building the indexes holds up writes of these tables, for seconds where they have millions of
-- rows.
CREATE TABLE integration_mappings (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  entity_type text NOT NULL CHECK (entity_type = 'customer'),
  entity_id text NOT NULL,
  provider_type text NOT NULL,
  provider_entity_id text NOT NULL,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id),
  FOREIGN KEY (tenant_id, environment_id, entity_id) REFERENCES customers (tenant_id, environment_id, id)
);
CREATE UNIQUE INDEX integration_mappings_of_entity
  ON integration_mappings (tenant_id, environment_id, entity_id, entity_type, provider_type) WHERE status = 'published';
CREATE UNIQUE INDEX integration_mappings_of_provider
  ON integration_mappings (tenant_id, environment_id, provider_type, provider_entity_id, entity_type) WHERE status = 'published';
SELECT isolate_environment('integration_mappings');

-- Members that searches compare and order by (docs/http.md 1.6), where a table can be large.
CREATE INDEX customers_of_email ON customers (tenant_id, environment_id, email, created_at, id) WHERE email IS NOT NULL;
CREATE INDEX customers_changed ON customers (tenant_id, environment_id, updated_at, id);
CREATE INDEX customers_by_name ON customers (tenant_id, environment_id, name, id);
CREATE INDEX subscriptions_of_payer ON subscriptions (tenant_id, environment_id, invoicing_customer_id)
  WHERE invoicing_customer_id IS NOT NULL;
CREATE INDEX subscriptions_of_parent ON subscriptions (tenant_id, environment_id, parent_subscription_id)
  WHERE parent_subscription_id IS NOT NULL;
CREATE INDEX audit_entries_of_type ON audit_entries (tenant_id, environment_id, entity_type, created_at, id);
CREATE INDEX audit_entries_of_user ON audit_entries (tenant_id, environment_id, user_id, created_at, id);
CREATE INDEX system_events_of_name ON system_events (tenant_id, environment_id, event_name, sequence);
