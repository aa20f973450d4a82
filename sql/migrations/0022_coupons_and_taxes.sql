-- Coupons, tax rates, and what they are attached to (docs/domain.md 14, 15). Programs of the previous release may run: they know
-- nothing of them, so their previews take neither discount nor tax.

CREATE TABLE coupons (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  coupon_code text,
  type text NOT NULL CHECK (type IN ('fixed', 'percentage')),
  cadence text NOT NULL CHECK (cadence IN ('once', 'repeated', 'forever')),
  amount_off numeric CHECK (amount_off > 0),
  percentage_off numeric CHECK (percentage_off > 0 AND percentage_off <= 100),
  -- Of a percentage it is kept and has no effect.
  currency text,
  duration_in_periods integer CHECK (duration_in_periods >= 1),
  -- Null: no limit.
  max_redemptions integer CHECK (max_redemptions BETWEEN 1 AND 1000000),
  total_redemptions integer NOT NULL DEFAULT 0 CHECK (total_redemptions >= 0),
  redeem_after timestamptz(3),
  redeem_before timestamptz(3) CHECK (redeem_before >= redeem_after),
  -- Kept and answered, not evaluated.
  rules jsonb,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  -- Whatever the programs do: never redeemed more often than allowed.
  CHECK (total_redemptions <= max_redemptions),
  CHECK ((type = 'fixed') = (amount_off IS NOT NULL) AND (type = 'percentage') = (percentage_off IS NOT NULL)),
  CHECK (type <> 'fixed' OR currency IS NOT NULL),
  CHECK ((cadence = 'repeated') = (duration_in_periods IS NOT NULL)),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE UNIQUE INDEX coupons_code ON coupons (tenant_id, environment_id, coupon_code) WHERE status = 'published';
CREATE INDEX coupons_newest ON coupons (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('coupons');

CREATE TABLE coupon_associations (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  coupon_id text NOT NULL,
  subscription_id text NOT NULL,
  -- Null: the coupon discounts the invoice as a whole.
  subscription_line_item_id text REFERENCES subscription_line_items (id),
  subscription_phase_id text,
  start_date timestamptz(3) NOT NULL,
  end_date timestamptz(3) CHECK (end_date >= start_date),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id),
  FOREIGN KEY (tenant_id, environment_id, coupon_id) REFERENCES coupons (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, subscription_id)
    REFERENCES subscriptions (tenant_id, environment_id, id)
);
CREATE INDEX coupon_associations_newest ON coupon_associations (tenant_id, environment_id, created_at, id);
CREATE INDEX coupon_associations_of_subscription ON coupon_associations (tenant_id, environment_id, subscription_id);
CREATE INDEX coupon_associations_of_coupon ON coupon_associations (tenant_id, environment_id, coupon_id);
SELECT isolate_environment('coupon_associations');

CREATE TABLE tax_rates (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  code text NOT NULL,
  description text,
  tax_rate_type text NOT NULL CHECK (tax_rate_type IN ('percentage', 'fixed')),
  percentage_value numeric CHECK (percentage_value >= 0),
  fixed_value numeric CHECK (fixed_value >= 0),
  scope text NOT NULL CHECK (scope IN ('INTERNAL', 'EXTERNAL', 'ONETIME')),
  tax_rate_status text NOT NULL CHECK (tax_rate_status IN ('ACTIVE', 'INACTIVE')),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  CHECK ((tax_rate_type = 'percentage') = (percentage_value IS NOT NULL)),
  CHECK ((tax_rate_type = 'fixed') = (fixed_value IS NOT NULL)),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE UNIQUE INDEX tax_rates_code ON tax_rates (tenant_id, environment_id, code) WHERE status = 'published';
CREATE INDEX tax_rates_newest ON tax_rates (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('tax_rates');

CREATE TABLE tax_associations (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  tax_rate_id text NOT NULL,
  entity_type text NOT NULL CHECK (entity_type IN ('tenant', 'customer', 'subscription', 'invoice')),
  entity_id text NOT NULL,
  -- Lower comes first.
  priority integer NOT NULL,
  -- Null: every currency.
  currency text,
  -- Whether an association of the tenant taxes without being asked for.
  auto_apply boolean NOT NULL,
  -- Null: from the beginning.
  start_date timestamptz(3),
  end_date timestamptz(3) CHECK (end_date >= start_date),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id),
  FOREIGN KEY (tenant_id, environment_id, tax_rate_id) REFERENCES tax_rates (tenant_id, environment_id, id)
);
CREATE INDEX tax_associations_newest ON tax_associations (tenant_id, environment_id, created_at, id);
CREATE INDEX tax_associations_of_entity ON tax_associations (tenant_id, environment_id, entity_type, entity_id)
  WHERE status = 'published';
CREATE INDEX tax_associations_of_rate ON tax_associations (tenant_id, environment_id, tax_rate_id);
SELECT isolate_environment('tax_associations');
