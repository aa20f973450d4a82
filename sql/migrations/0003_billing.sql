-- The catalog, customers, subscriptions and entitlements, and the answers stored under idempotency keys. Every table is
-- isolated by environment. Every reference includes the environment, so that no row can refer to another environment.

CREATE TABLE meters (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  event_name text NOT NULL,
  filters jsonb NOT NULL,
  aggregation_type text NOT NULL,
  aggregation_field text,
  aggregation_expression text,
  aggregation_group_by text,
  aggregation_multiplier numeric CHECK (aggregation_multiplier > 0),
  bucket_size text,
  reset_usage text NOT NULL CHECK (reset_usage IN ('BILLING_PERIOD', 'NEVER')),
  -- Grows by one with every change of the definition; meter_versions has all of them.
  version integer NOT NULL CHECK (version >= 1),
  -- The version that readers see now. Lower than `version` while a backfill applies the stored events to a change.
  read_version integer NOT NULL,
  -- State of the backfill as the API shows it, copied from meter_backfills by a trigger; null for a meter that was created
  -- before any of its events.
  backfill jsonb,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE INDEX meters_newest ON meters (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('meters');

CREATE TABLE features (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  description text,
  lookup_key text NOT NULL,
  type text NOT NULL CHECK (type IN ('metered', 'boolean', 'static')),
  meter_id text CHECK ((meter_id IS NOT NULL) = (type = 'metered')),
  group_id text,
  unit_singular text,
  unit_plural text,
  reporting_unit jsonb,
  alert_settings jsonb,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, meter_id)
    REFERENCES meters (tenant_id, environment_id, id)
);
CREATE UNIQUE INDEX features_lookup_key ON features (tenant_id, environment_id, lookup_key)
  WHERE status = 'published';
CREATE INDEX features_newest ON features (tenant_id, environment_id, created_at, id);
CREATE INDEX features_of_meter ON features (tenant_id, environment_id, meter_id);
SELECT isolate_environment('features');

CREATE TABLE plans (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  description text,
  lookup_key text,
  display_order integer,
  -- Highest sequence of the plan's prices. A new price takes the next one while it holds the lock of this row, which also
  -- keeps the number of live prices per owner within its limit.
  price_sequence integer NOT NULL DEFAULT 0,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE UNIQUE INDEX plans_lookup_key ON plans (tenant_id, environment_id, lookup_key)
  WHERE status = 'published' AND lookup_key IS NOT NULL;
CREATE INDEX plans_newest ON plans (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('plans');

CREATE TABLE prices (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  entity_type text NOT NULL CHECK (entity_type IN ('PLAN', 'ADDON', 'SUBSCRIPTION')),
  entity_id text NOT NULL,
  type text NOT NULL CHECK (type IN ('USAGE', 'FIXED')),
  billing_model text NOT NULL CHECK (billing_model IN ('FLAT_FEE', 'PACKAGE', 'TIERED')),
  billing_cadence text NOT NULL CHECK (billing_cadence IN ('RECURRING', 'ONETIME')),
  billing_period text NOT NULL,
  billing_period_count integer NOT NULL CHECK (billing_period_count >= 1),
  invoice_cadence text NOT NULL CHECK (invoice_cadence IN ('ARREAR', 'ADVANCE')),
  amount numeric CHECK (amount >= 0),
  currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
  meter_id text CHECK (meter_id IS NOT NULL OR type = 'FIXED'),
  filter_values jsonb,
  tier_mode text CHECK (tier_mode IN ('VOLUME', 'SLAB')),
  tiers jsonb,
  transform_quantity jsonb,
  min_quantity numeric,
  trial_period_days integer,
  display_name text,
  description text,
  lookup_key text,
  parent_price_id text,
  group_id text,
  price_unit_type text NOT NULL CHECK (price_unit_type IN ('FIAT', 'CUSTOM')),
  price_unit text,
  price_unit_id text,
  price_unit_amount numeric,
  price_unit_tiers jsonb,
  conversion_rate numeric,
  -- Position among the prices of the owner. A subscription has the plan's prices up to its `synced_price_sequence`.
  sequence integer NOT NULL,
  start_date timestamptz(3) NOT NULL,
  end_date timestamptz(3) CHECK (end_date >= start_date),
  -- On a price of one subscription: [{id, start {hour, minute}, end {hour, minute}, commitment_type, commitment_value,
  -- overage_factor, true_up_enabled, price_id}]; null on every other price (docs/domain.md 11.5).
  commitment_time_buckets jsonb
    CHECK (commitment_time_buckets IS NULL OR entity_type = 'SUBSCRIPTION'),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, meter_id)
    REFERENCES meters (tenant_id, environment_id, id)
);
CREATE UNIQUE INDEX prices_lookup_key ON prices (tenant_id, environment_id, lookup_key)
  WHERE status = 'published' AND lookup_key IS NOT NULL;
CREATE INDEX prices_newest ON prices (tenant_id, environment_id, created_at, id);
CREATE INDEX prices_of_owner ON prices (tenant_id, environment_id, entity_id, created_at);
CREATE INDEX prices_of_meter ON prices (tenant_id, environment_id, meter_id);
SELECT isolate_environment('prices');

CREATE TABLE customers (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  external_id text NOT NULL,
  name text NOT NULL,
  email text,
  contact text,
  address_line1 text,
  address_line2 text,
  address_city text,
  address_state text,
  address_postal_code text,
  address_country text,
  timezone text,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE UNIQUE INDEX customers_external_id ON customers (tenant_id, environment_id, external_id)
  WHERE status = 'published';
CREATE INDEX customers_newest ON customers (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('customers');

CREATE TABLE subscriptions (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  customer_id text NOT NULL,
  invoicing_customer_id text,
  plan_id text NOT NULL,
  parent_subscription_id text,
  lookup_key text,
  subscription_status text NOT NULL CHECK (subscription_status IN
    ('active', 'paused', 'cancelled', 'incomplete', 'trialing', 'draft')),
  subscription_type text NOT NULL CHECK (subscription_type IN
    ('standalone', 'delegated_invoicing', 'parent', 'inherited', 'grouped_invoicing')),
  currency text NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
  billing_cadence text NOT NULL CHECK (billing_cadence IN ('RECURRING', 'ONETIME')),
  billing_cycle text NOT NULL CHECK (billing_cycle IN ('anniversary', 'calendar')),
  billing_period text NOT NULL,
  billing_period_count integer NOT NULL CHECK (billing_period_count >= 1),
  billing_anchor timestamptz(3) NOT NULL,
  start_date timestamptz(3) NOT NULL,
  end_date timestamptz(3) CHECK (end_date > start_date),
  current_period_start timestamptz(3) NOT NULL,
  current_period_end timestamptz(3) NOT NULL,
  customer_timezone text NOT NULL,
  collection_method text NOT NULL,
  payment_behavior text NOT NULL,
  payment_terms text,
  gateway_payment_method_id text,
  auto_invoice_threshold numeric,
  proration_behavior text NOT NULL CHECK (proration_behavior IN ('create_prorations', 'none')),
  synced_price_sequence integer NOT NULL,
  cancel_at timestamptz(3),
  cancel_at_period_end boolean NOT NULL,
  cancelled_at timestamptz(3),
  trial_start timestamptz(3),
  trial_end timestamptz(3),
  commitment_amount numeric,
  commitment_duration text,
  overage_factor numeric,
  enable_true_up boolean NOT NULL,
  pause_status text NOT NULL CHECK (pause_status IN
    ('none', 'active', 'scheduled', 'completed', 'cancelled')),
  active_pause_id text,
  -- Raised by every edit; a writer may name the version that it has read (If-Match).
  version integer NOT NULL CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  CHECK (current_period_start < current_period_end),
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, customer_id)
    REFERENCES customers (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, plan_id)
    REFERENCES plans (tenant_id, environment_id, id)
);
CREATE UNIQUE INDEX subscriptions_lookup_key ON subscriptions (tenant_id, environment_id, lookup_key)
  WHERE status = 'published' AND lookup_key IS NOT NULL;
CREATE INDEX subscriptions_newest ON subscriptions (tenant_id, environment_id, created_at, id);
CREATE INDEX subscriptions_of_customer ON subscriptions (tenant_id, environment_id, customer_id);
CREATE INDEX subscriptions_of_plan ON subscriptions (tenant_id, environment_id, plan_id);
SELECT isolate_environment('subscriptions');

CREATE TABLE subscription_line_items (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  subscription_id text NOT NULL,
  customer_id text NOT NULL,
  entity_type text NOT NULL CHECK (entity_type IN ('plan', 'addon', 'subscription')),
  entity_id text NOT NULL,
  price_id text NOT NULL,
  price_type text NOT NULL CHECK (price_type IN ('USAGE', 'FIXED')),
  meter_id text,
  meter_display_name text,
  plan_display_name text,
  display_name text NOT NULL,
  currency text NOT NULL,
  quantity numeric NOT NULL CHECK (quantity >= 0),
  billing_period text NOT NULL,
  billing_period_count integer NOT NULL,
  invoice_cadence text NOT NULL,
  start_date timestamptz(3) NOT NULL,
  end_date timestamptz(3),
  -- The commitment of this line; null for a line without one.
  commitment_type text CHECK (commitment_type IN ('amount', 'quantity')),
  commitment_amount numeric CHECK ((commitment_amount IS NOT NULL) = (commitment_type IS NOT DISTINCT FROM 'amount')),
  commitment_quantity numeric
    CHECK ((commitment_quantity IS NOT NULL) = (commitment_type IS NOT DISTINCT FROM 'quantity')),
  commitment_duration text,
  commitment_overage_factor numeric
    CHECK ((commitment_overage_factor IS NOT NULL) = (commitment_type IS NOT NULL) AND commitment_overage_factor >= 1),
  commitment_true_up_enabled boolean NOT NULL DEFAULT false,
  commitment_windowed boolean NOT NULL DEFAULT false,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  FOREIGN KEY (tenant_id, environment_id, subscription_id)
    REFERENCES subscriptions (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, price_id)
    REFERENCES prices (tenant_id, environment_id, id)
);
CREATE INDEX subscription_line_items_of_subscription
  ON subscription_line_items (tenant_id, environment_id, subscription_id, created_at, id);
CREATE INDEX subscription_line_items_of_price
  ON subscription_line_items (tenant_id, environment_id, price_id);
SELECT isolate_environment('subscription_line_items');

CREATE TABLE entitlements (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  feature_id text NOT NULL,
  -- The type of the feature, which never changes.
  feature_type text NOT NULL CHECK (feature_type IN ('metered', 'boolean', 'static')),
  entity_type text NOT NULL CHECK (entity_type IN ('PLAN', 'ADDON', 'SUBSCRIPTION')),
  entity_id text NOT NULL,
  -- On an entitlement of a subscription: the entitlement that it replaces.
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

-- Answers to requests that carried an Idempotency-Key, kept for 24 hours.
CREATE TABLE idempotency_keys (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  key text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  body_hash bytea NOT NULL,
  -- running: claimed, nothing is written yet. applied: the write is committed (set in the same transaction). answered: the
  -- answer is stored. A claim whose process died is therefore taken over only while it is still `running`.
  state text NOT NULL CHECK (state IN ('running', 'applied', 'answered')),
  claim_id text NOT NULL,
  claimed_at timestamptz(3) NOT NULL,
  answer_status integer CHECK ((answer_status IS NOT NULL) = (state = 'answered')),
  answer_headers jsonb,
  answer_body text,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, environment_id, key)
);
CREATE INDEX idempotency_keys_expired ON idempotency_keys (expires_at);
SELECT isolate_environment('idempotency_keys');
