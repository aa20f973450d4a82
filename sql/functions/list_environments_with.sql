-- Environments with work that no single due instant tells of: usage that may reach a threshold, or drafts that follow later events.
-- It may also have alerts that no movement evaluates.
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
REVOKE ALL ON FUNCTION list_environments_with FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_environments_with TO minutebook_programs;
