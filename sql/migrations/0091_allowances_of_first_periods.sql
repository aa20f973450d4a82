-- An allowance that a subscription has in place of that of its plan for its first period only (docs/domain.md 22.2, 25.3): it lasts as long as that period,
-- wherever a pause moves its end. Programs of the previous release may run: they go by its end_date, as before.
ALTER TABLE entitlements ADD COLUMN is_of_first_period boolean NOT NULL DEFAULT false;
-- Those of first periods that still run. One that somebody gave later, with an end of its own, keeps that.
UPDATE entitlements AS entitlement SET is_of_first_period = true
FROM subscriptions AS subscription
WHERE subscription.tenant_id = entitlement.tenant_id AND subscription.environment_id = entitlement.environment_id
  AND subscription.id = entitlement.entity_id AND entitlement.entity_type = 'SUBSCRIPTION'
  AND entitlement.parent_entitlement_id IS NOT NULL AND entitlement.end_date = subscription.current_period_end
  AND entitlement.start_date >= subscription.start_date
  AND entitlement.created_at <= greatest(subscription.start_date, subscription.created_at);
