-- Subscriptions that are renewed a day later, and of which that was not told, a day before `at`: one arm of due_items(). Index: subscriptions_to_notice.
CREATE OR REPLACE FUNCTION due_renewal_notice(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT subscription.id, subscription.current_period_end
  FROM subscriptions AS subscription
  WHERE subscription.tenant_id = of_tenant AND subscription.environment_id = of_environment
    AND subscription.subscription_status = 'active' AND subscription.status = 'published'
    AND (subscription.renewal_noticed_end IS NULL OR subscription.renewal_noticed_end <= subscription.current_period_start)
    AND subscription.current_period_end > after + interval '24 hours'
    AND subscription.current_period_end <= until + interval '24 hours'
    AND subscription.billing_cadence = 'RECURRING'
    AND (subscription.cancel_at IS NULL OR subscription.cancel_at > subscription.current_period_end)
    AND (subscription.end_date IS NULL OR subscription.end_date > subscription.current_period_end)
$$;
REVOKE ALL ON FUNCTION due_renewal_notice FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_renewal_notice TO minutebook_app;
