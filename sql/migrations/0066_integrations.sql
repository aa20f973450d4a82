-- Records of more kinds are linked to those of providers, and providers tell of subscriptions (docs/domain.md 17.6).
ALTER TABLE integration_mappings
  DROP CONSTRAINT integration_mappings_entity_type_check,
  -- What a link names is of one of several tables: the operation holds it while it writes.
  DROP CONSTRAINT integration_mappings_tenant_id_environment_id_entity_id_fkey,
  ADD CONSTRAINT integration_mappings_entity_type_check
    CHECK (entity_type IN ('customer', 'plan', 'price', 'subscription', 'invoice', 'payment'));

CREATE TABLE subscription_signals (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  -- As the provider calls the signal.
  signal_id text NOT NULL,
  subscription_id text NOT NULL,
  state text NOT NULL CHECK (state IN ('active')),
  occurred_at timestamptz(3),
  received_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, environment_id, signal_id),
  FOREIGN KEY (tenant_id, environment_id, subscription_id) REFERENCES subscriptions (tenant_id, environment_id, id)
);
SELECT isolate_environment('subscription_signals');
