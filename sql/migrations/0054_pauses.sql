-- Pauses of subscriptions (docs/domain.md 26).
CREATE TABLE subscription_pauses (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  subscription_id text NOT NULL,
  pause_mode text NOT NULL CHECK (pause_mode IN ('immediate', 'scheduled', 'period_end')),
  resume_mode text CHECK (resume_mode IN ('immediate', 'scheduled')),
  pause_status text NOT NULL CHECK (pause_status IN ('scheduled', 'active', 'completed', 'cancelled')),
  pause_start timestamptz(3) NOT NULL,
  pause_end timestamptz(3) CHECK (pause_end > pause_start),
  -- When it ends by itself: at pause_end, or where the subscription ends before; null while nothing ends it.
  ends_at timestamptz(3),
  resumed_at timestamptz(3),
  original_period_start timestamptz(3) NOT NULL,
  original_period_end timestamptz(3) NOT NULL,
  reason text,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, subscription_id) REFERENCES subscriptions (tenant_id, environment_id, id)
);
CREATE INDEX subscription_pauses_of ON subscription_pauses (tenant_id, environment_id, subscription_id, pause_start);
-- At most one pause of a subscription is to come or under way.
CREATE UNIQUE INDEX subscription_pauses_live ON subscription_pauses (tenant_id, environment_id, subscription_id)
  WHERE pause_status IN ('scheduled', 'active');
SELECT isolate_environment('subscription_pauses');

-- As in 0053; also where a pause begins or ends.
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
    OR EXISTS (
      SELECT FROM subscription_pauses AS pause
      WHERE pause.tenant_id = environment.tenant_id AND pause.environment_id = environment.id
        AND ((pause.pause_status = 'scheduled' AND pause.pause_start <= clock.now)
          OR (pause.pause_status = 'active' AND pause.ends_at <= clock.now)))
  LIMIT count_max
$$;
