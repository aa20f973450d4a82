-- Subscriptions whose period or trial ends: one arm of due_items(). Index: subscriptions_to_renew.
CREATE OR REPLACE FUNCTION due_renewal(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT subscription.id, subscription.current_period_end
  FROM subscriptions AS subscription
  WHERE subscription.tenant_id = of_tenant AND subscription.environment_id = of_environment
    AND subscription.subscription_status IN ('trialing', 'active') AND subscription.status = 'published'
    AND subscription.current_period_end > after AND subscription.current_period_end <= until
$$;
REVOKE ALL ON FUNCTION due_renewal FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_renewal TO minutebook_app;
