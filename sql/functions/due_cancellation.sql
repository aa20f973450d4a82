-- Unpaid invoices whose days of grace are over, so that their subscriptions are cancelled, where the environment wants that: one arm of due_items(). Index: invoices_unpaid.
CREATE OR REPLACE FUNCTION due_cancellation(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT invoice.id, invoice.due_date + grace.days * interval '24 hours' + interval '1 millisecond'
  FROM settings AS setting
  CROSS JOIN LATERAL (SELECT coalesce((setting.value ->> 'grace_period_days')::integer, 3) AS days) AS grace
  JOIN invoices AS invoice ON invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment
  JOIN subscriptions AS subscription ON subscription.tenant_id = of_tenant AND subscription.environment_id = of_environment
    AND subscription.id = invoice.subscription_id
  WHERE setting.tenant_id = of_tenant AND setting.environment_id = of_environment
    AND setting.key = 'subscription_auto_cancel' AND setting.value ->> 'enabled' = 'true'
    AND invoice.invoice_status = 'FINALIZED' AND invoice.amount_remaining > 0
    AND invoice.payment_status IN ('PENDING', 'FAILED')
    AND invoice.due_date >= after - grace.days * interval '24 hours' AND invoice.due_date < until - grace.days * interval '24 hours'
    AND subscription.subscription_status IN ('active', 'trialing', 'paused') AND subscription.status = 'published'
$$;
REVOKE ALL ON FUNCTION due_cancellation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_cancellation TO minutebook_app;
