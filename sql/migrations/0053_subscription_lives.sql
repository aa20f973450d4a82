-- Trials end as periods do.
DROP INDEX subscriptions_to_renew;
CREATE INDEX subscriptions_to_renew ON subscriptions (tenant_id, environment_id, current_period_end, id)
  WHERE status = 'published' AND subscription_status IN ('trialing', 'active');

-- As in 0047; also where a trial ends.
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
      SELECT FROM wallets AS wallet
      WHERE wallet.tenant_id = environment.tenant_id AND wallet.environment_id = environment.id
        AND wallet.wallet_status = 'active' AND wallet.auto_topup ->> 'enabled' = 'true')
  LIMIT count_max
$$;
