-- What is watched of the billing run (docs/operations.md 16). Programs of the previous release may run: they number no invoices.

-- From which series an invoice has its number; null for a number that a caller gave.
ALTER TABLE invoices ADD COLUMN number_series text;
CREATE INDEX invoices_of_series ON invoices (tenant_id, environment_id, number_series) WHERE number_series IS NOT NULL;
ALTER TABLE number_counters
  ADD COLUMN first_number bigint NOT NULL DEFAULT 1,
  -- Numbers that an invoice had already, because a caller gave it to one.
  ADD COLUMN passed_over bigint NOT NULL DEFAULT 0,
  ADD COLUMN taken_at timestamptz(3) NOT NULL DEFAULT now();

-- What is due of the billing run, and what should never be, of all environments, each by its own clock. `faults` has at most 20 ids of
-- each kind. Periods and series are those of the last days: what was right then stays right, since nothing is removed.
CREATE FUNCTION find_billing_state(at timestamptz)
RETURNS TABLE (due_renewals bigint, renewal_wait double precision, due_finalizations bigint, finalization_wait double precision,
  late_drafts bigint, late_renewals bigint, missing_invoices bigint, number_gaps bigint, faults text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH clocks AS (
    SELECT environment.tenant_id, environment.id AS environment_id,
      coalesce(find_test_clock(environment.tenant_id, environment.id), at) AS now
    FROM environments AS environment
  ), renewals AS (
    SELECT subscription.id, clocks.now - subscription.current_period_end AS wait
    FROM clocks JOIN subscriptions AS subscription USING (tenant_id, environment_id)
    WHERE subscription.status = 'published' AND subscription.subscription_status = 'active'
      AND subscription.current_period_end <= clocks.now
  ), drafts AS (
    SELECT invoice.id, clocks.now - invoice.finalize_at AS wait
    FROM clocks JOIN invoices AS invoice USING (tenant_id, environment_id)
    WHERE invoice.invoice_status = 'DRAFT' AND invoice.finalize_at <= clocks.now
  ), missing AS (
    SELECT period.subscription_id || ' ' || period.period_end AS id
    FROM clocks JOIN subscriptions AS subscription USING (tenant_id, environment_id)
    JOIN subscription_periods AS period ON period.tenant_id = subscription.tenant_id
      AND period.environment_id = subscription.environment_id AND period.subscription_id = subscription.id
    WHERE period.period_end <= subscription.current_period_start AND period.period_end > clocks.now - interval '3 days'
      AND subscription.created_at < clocks.now AND NOT EXISTS (
        SELECT FROM invoices AS invoice
        WHERE invoice.tenant_id = period.tenant_id AND invoice.environment_id = period.environment_id
          AND invoice.subscription_id = period.subscription_id AND invoice.period_start = period.period_start
          AND invoice.period_end = period.period_end)
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
REVOKE ALL ON FUNCTION find_billing_state FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_billing_state TO minutebook_programs;
