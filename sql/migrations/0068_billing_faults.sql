-- What the watch over the billing run calls late or missing (docs/operations.md 5.1). Programs of the previous release may run: the rows
-- that they write count from the end of their period, as before.

-- From when on the run could end the period, where that is later than its end: when the row was written, or its subscription began to
-- run. By the clock of the environment; null in rows of earlier releases.
ALTER TABLE subscription_periods ADD COLUMN awaited_from timestamptz(3);

-- As in 0044; a renewal is late only when the run could have made it, those of children are made with their parent's, and only the
-- invoice that has to close a period stands for it: another of the same dates, as one with given lines or that of its start, does not.
CREATE OR REPLACE FUNCTION find_billing_state(at timestamptz)
RETURNS TABLE (due_renewals bigint, renewal_wait double precision, due_finalizations bigint, finalization_wait double precision,
  late_drafts bigint, late_renewals bigint, missing_invoices bigint, number_gaps bigint, faults text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH clocks AS (
    SELECT environment.tenant_id, environment.id AS environment_id,
      coalesce(find_test_clock(environment.tenant_id, environment.id), at) AS now
    FROM environments AS environment
  ), renewals AS (
    SELECT subscription.id, clocks.now - greatest(subscription.current_period_end, period.awaited_from) AS wait
    FROM clocks JOIN subscriptions AS subscription USING (tenant_id, environment_id)
    LEFT JOIN subscription_periods AS period ON period.tenant_id = subscription.tenant_id
      AND period.environment_id = subscription.environment_id AND period.subscription_id = subscription.id
      AND period.period_end = subscription.current_period_end
    WHERE subscription.status = 'published' AND subscription.subscription_status IN ('trialing', 'active')
      AND subscription.subscription_type NOT IN ('inherited', 'grouped_invoicing')
      AND subscription.current_period_end <= clocks.now
  ), drafts AS (
    SELECT invoice.id, clocks.now - invoice.finalize_at AS wait
    FROM clocks JOIN invoices AS invoice USING (tenant_id, environment_id)
    WHERE invoice.invoice_status = 'DRAFT' AND invoice.finalize_at <= clocks.now
  ), closed AS (
    SELECT period.tenant_id, period.environment_id, period.subscription_id, period.kind, period.period_start, period.period_end,
      period.billed_with
    FROM clocks JOIN subscriptions AS subscription USING (tenant_id, environment_id)
    JOIN subscription_periods AS period ON period.tenant_id = subscription.tenant_id
      AND period.environment_id = subscription.environment_id AND period.subscription_id = subscription.id
    WHERE period.period_end <= subscription.current_period_start AND period.period_end > clocks.now - interval '3 days'
      AND subscription.created_at < clocks.now
  ), missing AS (
    SELECT closed.subscription_id || ' ' || closed.period_end AS id
    FROM closed
    WHERE closed.billed_with IS NULL AND NOT EXISTS (
        SELECT FROM invoices AS invoice
        WHERE invoice.tenant_id = closed.tenant_id AND invoice.environment_id = closed.environment_id
          AND invoice.subscription_id = closed.subscription_id
          AND CASE closed.kind
            WHEN 'trial' THEN invoice.billing_reason = 'SUBSCRIPTION_TRIAL_END' AND invoice.period_start = closed.period_end
            WHEN 'threshold' THEN invoice.billing_reason = 'AUTO_INVOICE_THRESHOLD'
              AND invoice.period_start = closed.period_start AND invoice.period_end = closed.period_end
            ELSE invoice.billing_reason = 'SUBSCRIPTION_CYCLE'
              AND invoice.period_start = closed.period_start AND invoice.period_end = closed.period_end
          END)
    UNION ALL
    -- Of a grouped child: that of the parent's period in which it ended, once this has ended, too.
    SELECT closed.subscription_id || ' ' || closed.period_end
    FROM closed JOIN subscriptions AS parent ON parent.tenant_id = closed.tenant_id
      AND parent.environment_id = closed.environment_id AND parent.id = closed.billed_with
    WHERE parent.current_period_start >= closed.period_end AND NOT EXISTS (
        SELECT FROM invoices AS invoice
        WHERE invoice.tenant_id = closed.tenant_id AND invoice.environment_id = closed.environment_id
          AND invoice.subscription_id = closed.billed_with AND invoice.billing_reason = 'SUBSCRIPTION_CYCLE'
          AND invoice.period_start < closed.period_end AND invoice.period_end >= closed.period_end)
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
    (SELECT count(*) FROM renewals), coalesce((SELECT extract(epoch FROM max(wait)) FROM renewals), 0)::double precision,
    (SELECT count(*) FROM drafts), coalesce((SELECT extract(epoch FROM max(wait)) FROM drafts), 0)::double precision,
    (SELECT count(*) FROM drafts WHERE wait > interval '1 hour'), (SELECT count(*) FROM renewals WHERE wait > interval '1 hour'),
    (SELECT count(*) FROM missing), (SELECT count(*) FROM gaps),
    ARRAY(SELECT id FROM drafts WHERE wait > interval '1 hour' LIMIT 20)
      || ARRAY(SELECT id FROM renewals WHERE wait > interval '1 hour' LIMIT 20)
      || ARRAY(SELECT id FROM missing LIMIT 20) || ARRAY(SELECT id FROM gaps LIMIT 20)
$$;
