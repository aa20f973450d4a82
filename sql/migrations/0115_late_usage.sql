-- Usage that came after the invoice of its period was finalized (docs/domain.md 13.8). Programs of the previous release may run: they
-- charge no late usage, and what they charge otherwise stays as it is.

-- The invoice whose period a line of late usage belongs to; NULL for all other lines.
ALTER TABLE invoice_line_items ADD COLUMN late_invoice_id text;
CREATE INDEX invoice_line_items_of_late_usage ON invoice_line_items (tenant_id, environment_id, late_invoice_id)
  WHERE late_invoice_id IS NOT NULL;

-- What is known of late usage: a row for each line of a finalized invoice that would be another one today.
CREATE TABLE late_usage (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  invoice_id text NOT NULL,
  -- The line, as it is the same in every computation of the period: kind, line item, grouped child and start of its period.
  place text NOT NULL,
  subscription_id text NOT NULL,
  customer_id text NOT NULL,
  kind text NOT NULL,
  -- NULL for a true-up.
  subscription_line_item_id text,
  -- The grouped child that the line belongs to.
  child_subscription_id text,
  -- NULL for a line without usage, whose share of a discount or of a commitment has changed.
  meter_id text,
  display_name text NOT NULL,
  currency text NOT NULL,
  period_start timestamptz(3) NOT NULL,
  period_end timestamptz(3) NOT NULL,
  -- What is counted now, less what the invoice counted.
  quantity numeric NOT NULL,
  -- What the line costs now, less what the invoice charged for it, both after discounts.
  amount numeric NOT NULL,
  -- Events of the line's meter name that came after the watermark of the invoice, and when they were received.
  event_count bigint NOT NULL,
  first_received_at timestamptz(3),
  last_received_at timestamptz(3),
  seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, environment_id, invoice_id, place),
  FOREIGN KEY (tenant_id, environment_id, invoice_id) REFERENCES invoices (tenant_id, environment_id, id)
);
SELECT isolate_environment('late_usage');
CREATE INDEX late_usage_of_subscription ON late_usage (tenant_id, environment_id, subscription_id);

-- What is done about it, where a plan or a subscription says so itself; NULL where the setting decides.
ALTER TABLE plans ADD COLUMN late_usage jsonb;
ALTER TABLE subscriptions ADD COLUMN late_usage jsonb;

-- One row: up to where the log was looked through for late usage. A look begins where the one before the last had ended, so that an
-- invoice which was finalized while one was under way is met by the next.
CREATE TABLE late_usage_looks (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  looked_at timestamptz(3),
  ends jsonb NOT NULL DEFAULT '[]',
  previous_ends jsonb NOT NULL DEFAULT '[]'
) WITH (fillfactor = 50);
-- What came before this migration is not looked through: it may be all of the log.
INSERT INTO late_usage_looks (ends, previous_ends)
SELECT ends, ends FROM (
  SELECT coalesce(jsonb_agg(jsonb_build_object('log', log, 'partition', partition, 'countedBelow', next_offset)), '[]') AS ends
  FROM aggregator_checkpoints) AS counted;
GRANT SELECT ON late_usage_looks TO minutebook_programs;

-- Whoever has billed until now has agreed with customers that a final invoice is the last word on its period: late usage is listed there,
-- and billed when the setting says so.
INSERT INTO settings (tenant_id, environment_id, key, value, updated_at, updated_by)
SELECT tenant_id, id, 'late_usage', '{"policy": "report"}', '2026-12-01 00:00:00+00', 'minutebook' FROM environments;
