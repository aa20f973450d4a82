-- Subscriptions that nobody has activated and whose end comes: one arm of due_items(). Index: subscriptions_to_end.
CREATE OR REPLACE FUNCTION due_waiting_end(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT subscription.id, least(subscription.end_date, subscription.cancel_at)
  FROM subscriptions AS subscription
  WHERE subscription.tenant_id = of_tenant AND subscription.environment_id = of_environment
    AND subscription.subscription_status IN ('draft', 'incomplete') AND subscription.status = 'published'
    AND least(subscription.end_date, subscription.cancel_at) > after AND least(subscription.end_date, subscription.cancel_at) <= until
$$;
REVOKE ALL ON FUNCTION due_waiting_end FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_waiting_end TO minutebook_app;
