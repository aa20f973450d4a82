-- Invoices that are stored (docs/domain.md 13). Programs of the previous release may run: they know nothing of these tables, and bill
-- nothing.

CREATE TABLE invoices (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  invoice_number text,
  invoice_type text NOT NULL CHECK (invoice_type IN ('SUBSCRIPTION', 'ONE_OFF', 'CREDIT')),
  invoice_status text NOT NULL CHECK (invoice_status IN ('DRAFT', 'FINALIZED', 'SKIPPED', 'VOIDED')),
  payment_status text NOT NULL CHECK (payment_status IN ('INITIATED', 'PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED',
    'REFUNDED', 'PARTIALLY_REFUNDED', 'VOIDED')),
  billing_reason text NOT NULL CHECK (billing_reason ~ '^[A-Z_]{1,50}$'),
  billing_period text,
  -- 1, 2, 3 … of a subscription.
  billing_sequence integer CHECK (billing_sequence >= 1),
  customer_id text NOT NULL,
  subscription_id text,
  subscription_customer_id text,
  currency text NOT NULL,
  description text,
  issue_date timestamptz(3),
  due_date timestamptz(3),
  -- From when on a job finalizes the draft; null when only a call does.
  finalize_at timestamptz(3),
  finalized_at timestamptz(3),
  paid_at timestamptz(3),
  voided_at timestamptz(3),
  period_start timestamptz(3),
  period_end timestamptz(3),
  last_computed_at timestamptz(3) NOT NULL,
  data_until timestamptz(3),
  subtotal numeric NOT NULL,
  total numeric NOT NULL,
  total_discount numeric NOT NULL,
  total_tax numeric NOT NULL,
  total_prepaid_credits_applied numeric NOT NULL,
  adjustment_amount numeric NOT NULL,
  amount_due numeric NOT NULL,
  amount_paid numeric NOT NULL,
  amount_remaining numeric NOT NULL,
  overpaid_amount numeric NOT NULL,
  refunded_amount numeric NOT NULL,
  is_manually_edited boolean NOT NULL,
  invoice_pdf_url text,
  idempotency_key text,
  -- The invoice that replaced this one after it was voided.
  recalculated_invoice_id text,
  -- The parties as they were when the invoice was computed, as the texts that answers are made of.
  customer text NOT NULL,
  subscription text NOT NULL,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id),
  FOREIGN KEY (tenant_id, environment_id, customer_id) REFERENCES customers (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, subscription_id) REFERENCES subscriptions (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, recalculated_invoice_id) REFERENCES invoices (tenant_id, environment_id, id),
  CHECK ((invoice_type = 'SUBSCRIPTION') <= (subscription_id IS NOT NULL AND period_start IS NOT NULL AND billing_sequence IS NOT NULL)),
  CHECK ((period_start IS NULL) = (period_end IS NULL)),
  CHECK ((invoice_status = 'FINALIZED') <= (finalized_at IS NOT NULL AND invoice_number IS NOT NULL))
);
-- One invoice for a subscription, a period and a reason, whoever makes it and however often (docs/domain.md 13.1.1).
CREATE UNIQUE INDEX invoices_once ON invoices (tenant_id, environment_id, subscription_id, period_start, period_end, billing_reason)
  WHERE invoice_type = 'SUBSCRIPTION' AND invoice_status <> 'VOIDED';
CREATE UNIQUE INDEX invoices_number ON invoices (tenant_id, environment_id, invoice_number);
CREATE UNIQUE INDEX invoices_sequence ON invoices (tenant_id, environment_id, subscription_id, billing_sequence);
-- An invoice replaces at most one.
CREATE UNIQUE INDEX invoices_replacement ON invoices (tenant_id, environment_id, recalculated_invoice_id);
CREATE INDEX invoices_newest ON invoices (tenant_id, environment_id, created_at, id);
CREATE INDEX invoices_of_customer ON invoices (tenant_id, environment_id, customer_id, created_at, id);
CREATE INDEX invoices_of_subscription ON invoices (tenant_id, environment_id, subscription_id, period_start);
CREATE INDEX invoices_to_finalize ON invoices (tenant_id, environment_id, finalize_at, id) WHERE invoice_status = 'DRAFT';
SELECT isolate_environment('invoices');

CREATE TABLE invoice_line_items (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  invoice_id text NOT NULL,
  -- The place of the line on its invoice, from 0.
  position integer NOT NULL CHECK (position >= 0),
  kind text NOT NULL CHECK (kind IN ('charge', 'overage', 'true_up')),
  subscription_line_item_id text,
  entity_type text NOT NULL CHECK (entity_type IN ('plan', 'addon', 'subscription', 'invoice')),
  entity_id text NOT NULL,
  price_id text,
  price_type text NOT NULL,
  price_unit text,
  price_unit_id text,
  price_unit_amount numeric,
  meter_id text,
  meter_display_name text,
  plan_display_name text,
  display_name text NOT NULL,
  quantity numeric NOT NULL,
  amount numeric NOT NULL,
  -- What the line used of the commitment of its line item or of its subscription (docs/domain.md 11.2).
  committed_amount numeric,
  adjusted_entitlement_quantity numeric,
  period_start timestamptz(3),
  period_end timestamptz(3),
  invoice_level_discount numeric NOT NULL,
  line_item_discount numeric NOT NULL,
  prepaid_credits_applied numeric NOT NULL,
  commitment_info text NOT NULL,
  usage_analytics text NOT NULL,
  usage_breakdown text NOT NULL,
  -- The steps that led to the amount (docs/domain.md 13.6).
  trace text NOT NULL,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, invoice_id, position),
  FOREIGN KEY (tenant_id, environment_id, invoice_id) REFERENCES invoices (tenant_id, environment_id, id) ON DELETE CASCADE,
  FOREIGN KEY (subscription_line_item_id) REFERENCES subscription_line_items (id)
);
CREATE INDEX invoice_lines_of_item ON invoice_line_items (subscription_line_item_id) WHERE subscription_line_item_id IS NOT NULL;
SELECT isolate_environment('invoice_line_items');

CREATE TABLE coupon_applications (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  invoice_id text NOT NULL,
  position integer NOT NULL CHECK (position >= 0),
  coupon_id text NOT NULL,
  -- Null for a coupon of a one-off invoice.
  coupon_association_id text,
  coupon_snapshot text NOT NULL,
  invoice_line_item_id text,
  subscription_id text,
  discount_type text NOT NULL CHECK (discount_type IN ('fixed', 'percentage')),
  discount_percentage numeric,
  discounted_amount numeric NOT NULL CHECK (discounted_amount > 0),
  original_price numeric NOT NULL,
  final_price numeric NOT NULL,
  applied_at timestamptz(3) NOT NULL,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, invoice_id, position),
  FOREIGN KEY (tenant_id, environment_id, invoice_id) REFERENCES invoices (tenant_id, environment_id, id) ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, environment_id, coupon_id) REFERENCES coupons (tenant_id, environment_id, id)
);
CREATE INDEX coupon_applications_of_association ON coupon_applications (coupon_association_id);
SELECT isolate_environment('coupon_applications');

CREATE TABLE invoice_taxes (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  invoice_id text NOT NULL,
  position integer NOT NULL CHECK (position >= 0),
  entity_type text NOT NULL CHECK (entity_type IN ('tenant', 'customer', 'subscription', 'invoice')),
  entity_id text NOT NULL,
  tax_rate_id text NOT NULL,
  tax_rate text NOT NULL,
  -- Null for a tax that was named with a one-off invoice.
  tax_association_id text,
  taxable_amount numeric NOT NULL,
  tax_amount numeric NOT NULL,
  applied_at timestamptz(3) NOT NULL,
  idempotency_key text,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, invoice_id, position),
  FOREIGN KEY (tenant_id, environment_id, invoice_id) REFERENCES invoices (tenant_id, environment_id, id) ON DELETE CASCADE
);
SELECT isolate_environment('invoice_taxes');

-- What the last computation of an invoice was made from, so that it can be computed again for ever (docs/domain.md 13.1.6).
CREATE TABLE invoice_computations (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  invoice_id text NOT NULL,
  rules_version integer NOT NULL,
  inputs text NOT NULL,
  inputs_sha256 text NOT NULL,
  result_sha256 text NOT NULL,
  computed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, environment_id, invoice_id),
  FOREIGN KEY (tenant_id, environment_id, invoice_id) REFERENCES invoices (tenant_id, environment_id, id) ON DELETE CASCADE
);
SELECT isolate_environment('invoice_computations');

-- Counters without gaps: a number is taken in the transaction that uses it, and given back when that one is rolled back.
CREATE TABLE number_counters (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  -- What is counted, such as 'invoice INV-202501-'.
  series text NOT NULL,
  last_number bigint NOT NULL CHECK (last_number >= 0),
  PRIMARY KEY (tenant_id, environment_id, series),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
SELECT isolate_environment('number_counters');

-- What the billing job asks for; the index of 0011 has it for all environments together.
DROP INDEX subscriptions_period_end;
CREATE INDEX subscriptions_to_renew ON subscriptions (tenant_id, environment_id, current_period_end, id)
  WHERE status = 'published' AND subscription_status = 'active';

-- Environments in which a subscription is to be renewed or ended, or a draft to be finalized, by the clock of each.
CREATE FUNCTION list_billing_due(at timestamptz, count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT environment.tenant_id, environment.id FROM environments AS environment
  CROSS JOIN LATERAL (SELECT coalesce(find_test_clock(environment.tenant_id, environment.id), at) AS now) AS clock
  WHERE EXISTS (
      SELECT FROM subscriptions AS subscription
      WHERE subscription.tenant_id = environment.tenant_id AND subscription.environment_id = environment.id
        AND subscription.subscription_status = 'active' AND subscription.status = 'published'
        AND subscription.current_period_end <= clock.now)
    OR EXISTS (
      SELECT FROM invoices AS invoice
      WHERE invoice.tenant_id = environment.tenant_id AND invoice.environment_id = environment.id
        AND invoice.invoice_status = 'DRAFT' AND invoice.finalize_at <= clock.now)
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_billing_due FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_billing_due TO minutebook_programs;
