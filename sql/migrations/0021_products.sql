-- Addons and credit grants. Programs of the previous release may run: what they make has neither.
CREATE TABLE addons (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  description text,
  lookup_key text NOT NULL,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE UNIQUE INDEX addons_lookup_key ON addons (tenant_id, environment_id, lookup_key) WHERE status = 'published';
CREATE INDEX addons_newest ON addons (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('addons');

-- Credits that are given once or repeatedly. Those of a plan or an addon are copied to new subscriptions.
CREATE TABLE credit_grants (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  scope text NOT NULL CHECK (scope IN ('PLAN', 'ADDON', 'SUBSCRIPTION')),
  plan_id text CHECK ((plan_id IS NOT NULL) = (scope = 'PLAN')),
  addon_id text CHECK ((addon_id IS NOT NULL) = (scope = 'ADDON')),
  subscription_id text CHECK ((subscription_id IS NOT NULL) = (scope = 'SUBSCRIPTION')),
  credits numeric NOT NULL CHECK (credits > 0),
  cadence text NOT NULL CHECK (cadence IN ('ONETIME', 'RECURRING')),
  period text CHECK (period IS NOT NULL OR cadence = 'ONETIME'),
  period_count integer CHECK ((period_count IS NOT NULL OR cadence = 'ONETIME') AND period_count >= 1),
  expiration_type text NOT NULL CHECK (expiration_type IN ('NEVER', 'DURATION', 'BILLING_CYCLE')),
  expiration_duration integer
    CHECK ((expiration_duration IS NOT NULL OR expiration_type <> 'DURATION') AND expiration_duration >= 1),
  expiration_duration_unit text CHECK (expiration_duration_unit IN ('DAY', 'WEEK', 'MONTH', 'YEAR')),
  priority integer,
  -- The periods of a subscription's grant are counted from here; null for plans and addons, as are its dates.
  credit_grant_anchor timestamptz(3),
  start_date timestamptz(3) CHECK ((start_date IS NOT NULL) = (scope = 'SUBSCRIPTION')),
  end_date timestamptz(3) CHECK (end_date >= start_date),
  conversion_rate numeric CHECK (conversion_rate > 0),
  topup_conversion_rate numeric CHECK (topup_conversion_rate > 0),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id),
  FOREIGN KEY (tenant_id, environment_id, plan_id) REFERENCES plans (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, addon_id) REFERENCES addons (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, subscription_id)
    REFERENCES subscriptions (tenant_id, environment_id, id)
);
CREATE INDEX credit_grants_of_plan ON credit_grants (tenant_id, environment_id, plan_id, created_at, id)
  WHERE plan_id IS NOT NULL;
CREATE INDEX credit_grants_of_addon ON credit_grants (tenant_id, environment_id, addon_id, created_at, id)
  WHERE addon_id IS NOT NULL;
CREATE INDEX credit_grants_of_subscription
  ON credit_grants (tenant_id, environment_id, subscription_id, created_at, id) WHERE subscription_id IS NOT NULL;
SELECT isolate_environment('credit_grants');

-- Addons that subscriptions have. One that is associated twice counts twice.
CREATE TABLE addon_associations (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  subscription_id text NOT NULL,
  addon_id text NOT NULL,
  cadence text NOT NULL CHECK (cadence IN ('onetime', 'recurring')),
  addon_status text NOT NULL CHECK (addon_status IN ('active', 'pending', 'cancelled')),
  start_date timestamptz(3) NOT NULL,
  end_date timestamptz(3) CHECK (end_date >= start_date),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, subscription_id)
    REFERENCES subscriptions (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, addon_id) REFERENCES addons (tenant_id, environment_id, id)
);
CREATE INDEX addon_associations_of_subscription
  ON addon_associations (tenant_id, environment_id, subscription_id, created_at, id);
CREATE INDEX addon_associations_of_addon ON addon_associations (tenant_id, environment_id, addon_id);
SELECT isolate_environment('addon_associations');

-- Null for a line that comes from no addon, and for every line of a previous release.
ALTER TABLE subscription_line_items ADD COLUMN addon_association_id text;
ALTER TABLE subscription_line_items ADD CONSTRAINT subscription_line_items_addon_association
  FOREIGN KEY (tenant_id, environment_id, addon_association_id)
  REFERENCES addon_associations (tenant_id, environment_id, id) NOT VALID;
