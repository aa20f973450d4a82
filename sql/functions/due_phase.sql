-- Phases of subscriptions that begin: one arm of due_items(). Index: subscription_phases_to_begin.
CREATE OR REPLACE FUNCTION due_phase(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT phase.id, phase.start_date
  FROM subscription_phases AS phase
  JOIN subscriptions AS subscription ON subscription.tenant_id = of_tenant AND subscription.environment_id = of_environment
    AND subscription.id = phase.subscription_id
  WHERE phase.tenant_id = of_tenant AND phase.environment_id = of_environment
    AND phase.begun_at IS NULL AND phase.status = 'published' AND phase.start_date > after AND phase.start_date <= until
    AND subscription.subscription_status IN ('active', 'trialing', 'paused')
$$;
REVOKE ALL ON FUNCTION due_phase FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_phase TO minutebook_app;
