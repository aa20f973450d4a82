-- Environments in which something of the billing run is due, by the clock of each.
CREATE OR REPLACE FUNCTION list_billing_due(at timestamptz, count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT environment.tenant_id, environment.id FROM environments AS environment
  CROSS JOIN LATERAL (SELECT coalesce(find_test_clock(environment.tenant_id, environment.id), at) AS now) AS clock
  WHERE EXISTS (
      SELECT FROM subscriptions AS subscription
      WHERE subscription.tenant_id = environment.tenant_id AND subscription.environment_id = environment.id
        AND subscription.subscription_status IN ('trialing', 'active') AND subscription.status = 'published'
        AND subscription.current_period_end <= clock.now)
    OR EXISTS (
      SELECT FROM subscriptions AS subscription
      WHERE subscription.tenant_id = environment.tenant_id AND subscription.environment_id = environment.id
        AND subscription.status = 'published' AND subscription.subscription_status = 'active'
        AND (subscription.renewal_noticed_end IS NULL OR subscription.renewal_noticed_end <= subscription.current_period_start)
        AND subscription.current_period_end <= clock.now + interval '24 hours'
        AND subscription.billing_cadence = 'RECURRING'
        AND (subscription.cancel_at IS NULL OR subscription.cancel_at > subscription.current_period_end)
        AND (subscription.end_date IS NULL OR subscription.end_date > subscription.current_period_end))
    OR EXISTS (
      SELECT FROM invoices AS invoice
      WHERE invoice.tenant_id = environment.tenant_id AND invoice.environment_id = environment.id
        AND invoice.invoice_status = 'DRAFT' AND invoice.finalize_at <= clock.now)
    OR EXISTS (
      SELECT FROM credit_grants AS credit_grant
      WHERE credit_grant.tenant_id = environment.tenant_id AND credit_grant.environment_id = environment.id
        AND credit_grant.scope = 'SUBSCRIPTION' AND NOT credit_grant.has_ended AND credit_grant.status = 'published'
        AND coalesce(credit_grant.next_application_at, credit_grant.credit_grant_anchor, credit_grant.start_date) <= clock.now)
    OR EXISTS (
      SELECT FROM wallet_transactions AS credit
      WHERE credit.tenant_id = environment.tenant_id AND credit.environment_id = environment.id
        AND credit.type = 'credit' AND credit.transaction_status = 'completed' AND credit.credits_available > 0
        AND credit.expiry_date IS NOT NULL AND credit.expiry_date <= clock.now)
    OR EXISTS (
      SELECT FROM invoices AS invoice
      WHERE invoice.tenant_id = environment.tenant_id AND invoice.environment_id = environment.id
        AND invoice.invoice_status = 'FINALIZED' AND invoice.amount_remaining > 0 AND invoice.overdue_at IS NULL
        AND invoice.due_date < clock.now)
    OR EXISTS (
      SELECT FROM settings AS setting
      JOIN invoices AS invoice ON invoice.tenant_id = setting.tenant_id AND invoice.environment_id = setting.environment_id
      JOIN subscriptions AS subscription ON subscription.tenant_id = invoice.tenant_id
        AND subscription.environment_id = invoice.environment_id AND subscription.id = invoice.subscription_id
      WHERE setting.tenant_id = environment.tenant_id AND setting.environment_id = environment.id
        AND setting.key = 'subscription_auto_cancel' AND setting.value ->> 'enabled' = 'true'
        AND invoice.invoice_status = 'FINALIZED' AND invoice.amount_remaining > 0
        AND invoice.payment_status IN ('PENDING', 'FAILED')
        AND invoice.due_date < clock.now - coalesce((setting.value ->> 'grace_period_days')::integer, 3) * interval '24 hours'
        AND subscription.subscription_status IN ('active', 'trialing', 'paused') AND subscription.status = 'published')
    OR EXISTS (
      SELECT FROM wallets AS wallet
      WHERE wallet.tenant_id = environment.tenant_id AND wallet.environment_id = environment.id
        AND wallet.wallet_status = 'active' AND wallet.auto_topup ->> 'enabled' = 'true')
    OR EXISTS (
      SELECT FROM subscription_phases AS phase
      JOIN subscriptions AS subscription ON subscription.tenant_id = phase.tenant_id
        AND subscription.environment_id = phase.environment_id AND subscription.id = phase.subscription_id
      WHERE phase.tenant_id = environment.tenant_id AND phase.environment_id = environment.id
        AND phase.begun_at IS NULL AND phase.status = 'published' AND phase.start_date <= clock.now
        AND subscription.subscription_status IN ('active', 'trialing', 'paused'))
    OR EXISTS (
      SELECT FROM subscription_pauses AS pause
      WHERE pause.tenant_id = environment.tenant_id AND pause.environment_id = environment.id
        AND ((pause.pause_status = 'scheduled' AND pause.pause_start <= clock.now)
          OR (pause.pause_status = 'active' AND pause.ends_at <= clock.now)))
    OR EXISTS (
      SELECT FROM invoices AS invoice
      WHERE invoice.tenant_id = environment.tenant_id AND invoice.environment_id = environment.id
        AND invoice.invoice_status = 'FINALIZED' AND invoice.payment_status = 'FAILED' AND invoice.next_attempt_at IS NOT NULL
        AND invoice.next_attempt_at <= clock.now)
    OR EXISTS (
      SELECT FROM subscriptions AS subscription
      WHERE subscription.tenant_id = environment.tenant_id AND subscription.environment_id = environment.id
        AND subscription.subscription_status IN ('draft', 'incomplete') AND subscription.status = 'published'
        AND least(subscription.end_date, subscription.cancel_at) <= clock.now)
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_billing_due FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_billing_due TO minutebook_programs;
