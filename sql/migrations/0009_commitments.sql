-- Commitments of line items and of the day's hours, and entitlements (domain.md 10, 11). Subscriptions have had the columns of
-- theirs from the beginning.

ALTER TABLE subscription_line_items
  -- What is committed to; null for a line without a commitment of its own.
  ADD COLUMN commitment_type text CHECK (commitment_type IN ('amount', 'quantity')),
  ADD COLUMN commitment_amount numeric CHECK ((commitment_amount IS NOT NULL) = (commitment_type IS NOT DISTINCT FROM 'amount')),
  ADD COLUMN commitment_quantity numeric
    CHECK ((commitment_quantity IS NOT NULL) = (commitment_type IS NOT DISTINCT FROM 'quantity')),
  ADD COLUMN commitment_duration text,
  ADD COLUMN commitment_overage_factor numeric
    CHECK ((commitment_overage_factor IS NOT NULL) = (commitment_type IS NOT NULL) AND commitment_overage_factor >= 1),
  ADD COLUMN commitment_true_up_enabled boolean NOT NULL DEFAULT false,
  ADD COLUMN commitment_windowed boolean NOT NULL DEFAULT false;

-- On a price of one subscription: [{id, start {hour, minute}, end {hour, minute}, commitment_type, commitment_value,
-- overage_factor, true_up_enabled, price_id}]; null on every other price (domain.md 11.5).
ALTER TABLE prices
  ADD COLUMN commitment_time_buckets jsonb
    CHECK (commitment_time_buckets IS NULL OR entity_type = 'SUBSCRIPTION');

ALTER TABLE features ADD UNIQUE (tenant_id, environment_id, id);

CREATE TABLE entitlements (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  feature_id text NOT NULL,
  -- That of the feature, which never changes.
  feature_type text NOT NULL CHECK (feature_type IN ('metered', 'boolean', 'static')),
  entity_type text NOT NULL CHECK (entity_type IN ('PLAN', 'ADDON', 'SUBSCRIPTION')),
  entity_id text NOT NULL,
  -- Of a subscription's: the entitlement that it replaces.
  parent_entitlement_id text,
  is_enabled boolean NOT NULL,
  is_soft_limit boolean NOT NULL,
  static_value text CHECK (static_value IS NOT NULL OR feature_type <> 'static'),
  -- Null: unlimited.
  usage_limit bigint CHECK (usage_limit >= 0),
  -- Null: the billing period.
  usage_reset_period text,
  display_order integer,
  start_date timestamptz(3),
  end_date timestamptz(3) CHECK (end_date >= start_date),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, feature_id)
    REFERENCES features (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, parent_entitlement_id)
    REFERENCES entitlements (tenant_id, environment_id, id)
);
CREATE INDEX entitlements_newest ON entitlements (tenant_id, environment_id, created_at, id);
CREATE INDEX entitlements_of_owner ON entitlements (tenant_id, environment_id, entity_id, created_at, id);
CREATE INDEX entitlements_of_feature ON entitlements (tenant_id, environment_id, feature_id);
SELECT isolate_environment('entitlements');
