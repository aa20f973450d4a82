-- What the billing run of an environment has still to do, or has left behind, each with its owner and its age (docs/operations.md 5.1).
-- Sees what the caller sees. Kinds: `renewal`, a period that has ended and was not renewed; `draft`, one whose delay is over;
-- `held_draft`, such a one that waits for a meter; `missing_invoice`, a period that was closed within this time and has no invoice;
-- `future_period`, a running period that begins in the future; `overdue`, an unpaid invoice past its due date that nothing has been
-- told of, so that nobody asks for its money. A draft waits from when it was made: one of a period that ended long ago, as after a
-- start in the past, is not late while the run catches up.
CREATE OR REPLACE FUNCTION find_leftovers(of_tenant text, of_environment text, now timestamptz, closed_within interval)
RETURNS TABLE (kind text, subscription_id text, invoice_id text, period_start timestamptz, period_end timestamptz, wait interval,
  meter_id text)
LANGUAGE sql STABLE AS $$
  SELECT 'renewal', subscription.id, NULL::text, subscription.current_period_start, subscription.current_period_end,
    now - greatest(subscription.current_period_end, period.awaited_from), NULL::text
  FROM due_renewal(of_tenant, of_environment, '-infinity', now) AS due
  JOIN subscriptions AS subscription ON subscription.tenant_id = of_tenant AND subscription.environment_id = of_environment
    AND subscription.id = due.id
  LEFT JOIN subscription_periods AS period ON period.tenant_id = of_tenant AND period.environment_id = of_environment
    AND period.subscription_id = subscription.id AND period.period_end = subscription.current_period_end
  WHERE subscription.subscription_type NOT IN ('inherited', 'grouped_invoicing')
  UNION ALL
  SELECT CASE WHEN awaited.meter_id IS NULL THEN 'draft' ELSE 'held_draft' END, invoice.subscription_id, invoice.id,
    invoice.period_start, invoice.period_end, now - greatest(invoice.finalize_at, invoice.created_at), awaited.meter_id
  FROM due_draft(of_tenant, of_environment, '-infinity', now) AS due
  JOIN invoices AS invoice ON invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment AND invoice.id = due.id
  CROSS JOIN LATERAL (SELECT CASE WHEN NOT invoice.is_manually_edited THEN awaited_meter(
      of_tenant, of_environment, invoice.subscription_id, invoice.period_start, invoice.period_end) END AS meter_id) AS awaited
  UNION ALL
  SELECT 'missing_invoice', closed.subscription_id, NULL, closed.period_start, closed.period_end, now - closed.period_end, NULL
  FROM subscriptions AS subscription
  JOIN subscription_periods AS closed ON closed.tenant_id = of_tenant AND closed.environment_id = of_environment
    AND closed.subscription_id = subscription.id
  LEFT JOIN subscriptions AS parent ON parent.tenant_id = of_tenant AND parent.environment_id = of_environment
    AND parent.id = closed.billed_with
  WHERE subscription.tenant_id = of_tenant AND subscription.environment_id = of_environment
    AND closed.period_end <= subscription.current_period_start AND closed.period_end > now - closed_within
    AND subscription.created_at < now
    -- Of a grouped child: that of the parent's period in which it ended, once this has ended, too.
    AND (closed.billed_with IS NULL OR parent.current_period_start >= closed.period_end)
    AND NOT EXISTS (
      SELECT FROM invoices AS invoice
      WHERE invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment
        AND invoice.subscription_id = coalesce(closed.billed_with, closed.subscription_id)
        AND CASE
          WHEN closed.billed_with IS NOT NULL THEN invoice.billing_reason = 'SUBSCRIPTION_CYCLE'
            AND invoice.period_start < closed.period_end AND invoice.period_end >= closed.period_end
          WHEN closed.kind = 'trial' THEN invoice.billing_reason = 'SUBSCRIPTION_TRIAL_END'
            AND invoice.period_start = closed.period_end
          WHEN closed.kind = 'threshold' THEN invoice.billing_reason = 'AUTO_INVOICE_THRESHOLD'
            AND invoice.period_start = closed.period_start AND invoice.period_end = closed.period_end
          ELSE invoice.billing_reason = 'SUBSCRIPTION_CYCLE'
            AND invoice.period_start = closed.period_start AND invoice.period_end = closed.period_end
        END)
  UNION ALL
  SELECT 'future_period', subscription.id, NULL, subscription.current_period_start, subscription.current_period_end,
    subscription.current_period_start - now, NULL
  FROM subscriptions AS subscription
  WHERE subscription.tenant_id = of_tenant AND subscription.environment_id = of_environment
    AND subscription.status = 'published' AND subscription.subscription_status IN ('trialing', 'active')
    AND subscription.start_date <= now AND subscription.current_period_start > now
  UNION ALL
  SELECT 'overdue', invoice.subscription_id, invoice.id, invoice.period_start, invoice.period_end,
    now - greatest(invoice.due_date, invoice.finalized_at), NULL
  FROM due_overdue(of_tenant, of_environment, '-infinity', now) AS due
  JOIN invoices AS invoice ON invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment AND invoice.id = due.id
$$;
REVOKE ALL ON FUNCTION find_leftovers FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_leftovers TO minutebook_app;
