-- The meter for which an invoice of a subscription and a period waits, because stored events are being applied to it or that has failed
-- and is tried again (docs/domain.md 7.4): one of its lines, or of its grouped children. Null for none. Sees what the caller sees.
CREATE OR REPLACE FUNCTION awaited_meter(
  of_tenant text, of_environment text, of_subscription text, from_at timestamptz, until_at timestamptz
) RETURNS text LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT min(meter.id)
  FROM subscriptions AS owner
  JOIN subscription_line_items AS item ON item.tenant_id = of_tenant AND item.environment_id = of_environment
    AND item.subscription_id = owner.id AND item.start_date < until_at
    AND (item.end_date IS NULL OR item.end_date > from_at)
  JOIN meters AS meter ON meter.tenant_id = of_tenant AND meter.environment_id = of_environment AND meter.id = item.meter_id
    AND meter.backfill ->> 'status' IN ('running', 'failed')
  WHERE owner.tenant_id = of_tenant AND owner.environment_id = of_environment
    AND (owner.id = of_subscription
      OR owner.parent_subscription_id = of_subscription AND owner.subscription_type = 'grouped_invoicing')
$$;
REVOKE ALL ON FUNCTION awaited_meter FROM PUBLIC;
GRANT EXECUTE ON FUNCTION awaited_meter TO minutebook_app;
