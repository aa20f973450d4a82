-- What is known of late usage in an environment, with what later invoices have charged of it (docs/domain.md 13.8): only of invoices that
-- were finalized or skipped and whose lines were computed. Invoices `without` are computed now, so that what
-- they charged does not count. Charged is by other invoices than the one of the line. Sees what the caller sees. Grain: one row for each line of an invoice.
-- Index: late_usage by environment; invoices_once and invoice_line_items_of_late_usage for what was charged.
CREATE OR REPLACE FUNCTION find_late_usage(of_tenant text, of_environment text, without text[] DEFAULT '{}')
RETURNS TABLE (invoice_id text, invoice_number text, place text, subscription_id text, customer_id text, kind text,
  subscription_line_item_id text, child_subscription_id text, meter_id text, display_name text, currency text,
  invoice_start timestamptz, invoice_end timestamptz, period_start timestamptz, period_end timestamptz, quantity numeric, amount numeric,
  event_count bigint, first_received_at timestamptz, last_received_at timestamptz, seen_at timestamptz, charged_quantity numeric,
  charged_amount numeric, charged_on text[])
LANGUAGE sql STABLE AS $$
  SELECT late.invoice_id, invoice.invoice_number, late.place, late.subscription_id, late.customer_id, late.kind,
    late.subscription_line_item_id, late.child_subscription_id, late.meter_id, late.display_name, late.currency,
    invoice.period_start, invoice.period_end, late.period_start, late.period_end, late.quantity, late.amount, late.event_count,
    late.first_received_at, late.last_received_at, late.seen_at, coalesce(charged.quantity, 0), coalesce(charged.amount, 0),
    coalesce(charged.invoice_ids, '{}')
  FROM late_usage AS late
  JOIN invoices AS invoice ON invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment
    AND invoice.id = late.invoice_id AND invoice.invoice_status IN ('FINALIZED', 'SKIPPED') AND NOT invoice.is_manually_edited
  LEFT JOIN LATERAL (
    SELECT sum(line.quantity) AS quantity, sum(line.amount - line.line_item_discount - line.invoice_level_discount) AS amount,
      array_agg(DISTINCT line.invoice_id ORDER BY line.invoice_id) AS invoice_ids
    FROM invoices AS of_period
    JOIN invoice_line_items AS line ON line.tenant_id = of_tenant AND line.environment_id = of_environment
      AND line.late_invoice_id = of_period.id
    JOIN invoices AS charging ON charging.tenant_id = of_tenant AND charging.environment_id = of_environment
      AND charging.id = line.invoice_id AND charging.invoice_status IN ('DRAFT', 'FINALIZED')
      -- What an invoice in the place of a voided one sets off is part of what it charged itself.
      AND charging.id <> ALL (without) AND charging.id <> late.invoice_id
    WHERE of_period.tenant_id = of_tenant AND of_period.environment_id = of_environment
      AND of_period.subscription_id = invoice.subscription_id AND of_period.period_start = invoice.period_start
      AND of_period.period_end = invoice.period_end AND of_period.billing_reason = invoice.billing_reason
      AND line.kind = late.kind AND line.subscription_line_item_id IS NOT DISTINCT FROM late.subscription_line_item_id
      AND line.subscription_id IS NOT DISTINCT FROM late.child_subscription_id AND line.period_start = late.period_start
  ) AS charged ON true
  WHERE late.tenant_id = of_tenant AND late.environment_id = of_environment
    -- Nothing is known of what a draft charged that was computed again since.
    AND (late.quantity <> 0 OR late.amount <> 0 OR charged.invoice_ids IS NOT NULL)
$$;
REVOKE ALL ON FUNCTION find_late_usage FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_late_usage TO minutebook_app;
