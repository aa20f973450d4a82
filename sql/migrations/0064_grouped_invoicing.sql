-- Periods of grouped children, which the invoices of another subscription bill (docs/domain.md 29.2).
ALTER TABLE subscription_periods ADD COLUMN billed_with text;
CREATE INDEX subscription_periods_billed_with ON subscription_periods (tenant_id, environment_id, billed_with, period_end)
  WHERE billed_with IS NOT NULL;

-- The subscription of a line, where that is not the one of its invoice.
ALTER TABLE invoice_line_items ADD COLUMN subscription_id text;
CREATE INDEX invoice_lines_of_child ON invoice_line_items (tenant_id, environment_id, subscription_id)
  WHERE subscription_id IS NOT NULL;
