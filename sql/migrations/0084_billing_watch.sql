-- Two more of what should never be (docs/operations.md 5.1): a running period that begins in the future, and an unpaid invoice past its
-- due date that nothing has been told of, so that nobody asks for its money. As in 0077 otherwise.
CREATE OR REPLACE FUNCTION find_leftovers(of_tenant text, of_environment text, now timestamptz, closed_within interval)
RETURNS TABLE (kind text, subscription_id text, invoice_id text, period_start timestamptz, period_end timestamptz, wait interval,
  meter_id text)
LANGUAGE sql STABLE AS $$
  SELECT 'renewal', subscription.id, NULL::text, subscription.current_period_start, subscription.current_period_end,
    now - greatest(subscription.current_period_end, period.awaited_from), NULL::text
  FROM subscriptions AS subscription
  LEFT JOIN subscription_periods AS period ON period.tenant_id = of_tenant AND period.environment_id = of_environment
    AND period.subscription_id = subscription.id AND period.period_end = subscription.current_period_end
  WHERE subscription.tenant_id = of_tenant AND subscription.environment_id = of_environment
    AND subscription.status = 'published' AND subscription.subscription_status IN ('trialing', 'active')
    AND subscription.subscription_type NOT IN ('inherited', 'grouped_invoicing')
    AND subscription.current_period_end <= now
  UNION ALL
  SELECT CASE WHEN awaited.meter_id IS NULL THEN 'draft' ELSE 'held_draft' END, invoice.subscription_id, invoice.id,
    invoice.period_start, invoice.period_end, now - invoice.finalize_at, awaited.meter_id
  FROM invoices AS invoice
  CROSS JOIN LATERAL (SELECT CASE WHEN NOT invoice.is_manually_edited THEN awaited_meter(
      of_tenant, of_environment, invoice.subscription_id, invoice.period_start, invoice.period_end) END AS meter_id) AS awaited
  WHERE invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment
    AND invoice.invoice_status = 'DRAFT' AND invoice.finalize_at <= now
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
  FROM invoices AS invoice
  WHERE invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment
    AND invoice.invoice_status = 'FINALIZED' AND invoice.amount_remaining > 0 AND invoice.overdue_at IS NULL
    AND invoice.due_date < now
$$;

-- As in 0077; with both of them. Programs of the previous release may run: they leave members out that they do not know.
DROP FUNCTION find_billing_state(timestamptz);
CREATE FUNCTION find_billing_state(at timestamptz)
RETURNS TABLE (due_renewals bigint, renewal_wait double precision, due_finalizations bigint, finalization_wait double precision,
  held_drafts bigint, held_wait double precision, late_drafts bigint, late_renewals bigint, missing_invoices bigint, number_gaps bigint,
  late_overdues bigint, future_periods bigint, faults text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH found AS MATERIALIZED (
    SELECT leftover.kind, leftover.wait,
      coalesce(leftover.invoice_id, leftover.subscription_id || ' ' || leftover.period_end) AS id
    FROM environments AS environment
    CROSS JOIN LATERAL (SELECT coalesce(find_test_clock(environment.tenant_id, environment.id), at) AS now) AS clock
    CROSS JOIN LATERAL find_leftovers(environment.tenant_id, environment.id, clock.now, interval '3 days') AS leftover
  ), late AS (
    SELECT kind, id FROM found WHERE kind IN ('renewal', 'draft', 'overdue') AND wait > interval '1 hour'
  ), gaps AS (
    SELECT counter.series AS id
    FROM number_counters AS counter
    WHERE counter.taken_at > at - interval '2 days'
      AND counter.last_number - counter.first_number + 1 - counter.passed_over <> (
        SELECT count(*) FROM invoices AS invoice
        WHERE invoice.tenant_id = counter.tenant_id AND invoice.environment_id = counter.environment_id
          AND invoice.number_series = counter.series)
  )
  SELECT
    (SELECT count(*) FROM found WHERE kind = 'renewal'),
    coalesce((SELECT extract(epoch FROM max(wait)) FROM found WHERE kind = 'renewal'), 0)::double precision,
    (SELECT count(*) FROM found WHERE kind = 'draft'),
    coalesce((SELECT extract(epoch FROM max(wait)) FROM found WHERE kind = 'draft'), 0)::double precision,
    (SELECT count(*) FROM found WHERE kind = 'held_draft'),
    coalesce((SELECT extract(epoch FROM max(wait)) FROM found WHERE kind = 'held_draft'), 0)::double precision,
    (SELECT count(*) FROM late WHERE kind = 'draft'), (SELECT count(*) FROM late WHERE kind = 'renewal'),
    (SELECT count(*) FROM found WHERE kind = 'missing_invoice'), (SELECT count(*) FROM gaps),
    (SELECT count(*) FROM late WHERE kind = 'overdue'), (SELECT count(*) FROM found WHERE kind = 'future_period'),
    ARRAY(SELECT id FROM late WHERE kind = 'draft' LIMIT 20) || ARRAY(SELECT id FROM late WHERE kind = 'renewal' LIMIT 20)
      || ARRAY(SELECT id FROM found WHERE kind = 'missing_invoice' LIMIT 20) || ARRAY(SELECT id FROM gaps LIMIT 20)
      || ARRAY(SELECT id FROM late WHERE kind = 'overdue' LIMIT 20)
      || ARRAY(SELECT id FROM found WHERE kind = 'future_period' LIMIT 20)
$$;
REVOKE ALL ON FUNCTION find_billing_state FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_billing_state TO minutebook_programs;
