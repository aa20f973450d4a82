-- How alerts stand, and the log of their changes (docs/domain.md 31).
CREATE TABLE alert_states (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  alert_type text NOT NULL,
  -- What has the settings: a wallet, a feature, or an alert setting.
  entity_id text NOT NULL,
  -- Of what it is evaluated for apart: the wallet of a feature, the subscription of a group; else empty.
  scope_id text NOT NULL,
  alert_status text NOT NULL CHECK (alert_status IN ('ok', 'info', 'warning', 'in_alarm')),
  PRIMARY KEY (tenant_id, environment_id, alert_type, entity_id, scope_id)
);
SELECT isolate_environment('alert_states');

CREATE TABLE alert_logs (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  entity_type text NOT NULL CHECK (entity_type IN ('wallet', 'feature', 'subscription', 'subscription_line_item', 'group')),
  entity_id text NOT NULL,
  alert_type text NOT NULL CHECK (alert_type IN ('credit_balance', 'ongoing_balance', 'feature_wallet_balance', 'subscription_spend',
    'line_item_spend', 'group_spend')),
  alert_status text NOT NULL CHECK (alert_status IN ('ok', 'info', 'warning', 'in_alarm')),
  alert_info jsonb NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE INDEX alert_logs_newest ON alert_logs (tenant_id, environment_id, created_at, id);
CREATE INDEX alert_logs_of_entity ON alert_logs (tenant_id, environment_id, entity_id, created_at);
SELECT isolate_environment('alert_logs');
REVOKE DELETE ON alert_logs FROM minutebook_app;

-- As in 0052, and environments with alerts that no movement evaluates.
CREATE OR REPLACE FUNCTION list_environments_with(work text, count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT environment.tenant_id, environment.id FROM environments AS environment
  WHERE (work = 'thresholds' AND EXISTS (
      SELECT FROM subscriptions AS subscription
      WHERE subscription.tenant_id = environment.tenant_id AND subscription.environment_id = environment.id
        AND subscription.subscription_status = 'active' AND subscription.status = 'published'
        AND subscription.auto_invoice_threshold IS NOT NULL))
    OR (work = 'drafts' AND EXISTS (
      SELECT FROM invoices AS invoice
      WHERE invoice.tenant_id = environment.tenant_id AND invoice.environment_id = environment.id
        AND invoice.invoice_status = 'DRAFT' AND invoice.invoice_type = 'SUBSCRIPTION' AND NOT invoice.is_manually_edited))
    OR (work = 'wallet-alerts' AND (EXISTS (
      SELECT FROM wallets AS wallet
      WHERE wallet.tenant_id = environment.tenant_id AND wallet.environment_id = environment.id
        AND wallet.wallet_status = 'active' AND wallet.alert_settings ->> 'alert_enabled' = 'true')
      OR EXISTS (
      SELECT FROM features AS feature
      WHERE feature.tenant_id = environment.tenant_id AND feature.environment_id = environment.id
        AND feature.status = 'published' AND feature.alert_settings ->> 'alert_enabled' = 'true')))
    OR (work = 'spend-alerts' AND EXISTS (
      SELECT FROM alert_settings AS setting
      WHERE setting.tenant_id = environment.tenant_id AND setting.environment_id = environment.id
        AND setting.status = 'published' AND setting.alert_settings ->> 'alert_enabled' = 'true'))
  LIMIT count_max
$$;
