-- Indexes for what becomes due and for look-ups that had none. Building them stops writes to these tables meanwhile; programs
-- of the previous release may run.

-- For the jobs that look for what is due in all environments: renewals, scheduled cancellations and ends of trials. A
-- cancelled subscription keeps its times for ever and is never due again.
CREATE INDEX subscriptions_period_end ON subscriptions (current_period_end)
  WHERE status = 'published' AND subscription_status <> 'cancelled';
CREATE INDEX subscriptions_cancel_at ON subscriptions (cancel_at)
  WHERE status = 'published' AND subscription_status <> 'cancelled' AND cancel_at IS NOT NULL;
CREATE INDEX subscriptions_trial_end ON subscriptions (trial_end)
  WHERE status = 'published' AND subscription_status <> 'cancelled' AND trial_end IS NOT NULL;

-- For the search of prices by `parent_price_id`.
CREATE INDEX prices_of_parent ON prices (tenant_id, environment_id, parent_price_id)
  WHERE parent_price_id IS NOT NULL;

-- For the customers of an event, whatever their status; customers_external_id has the published ones only.
CREATE INDEX customers_of_external_id ON customers (tenant_id, environment_id, external_id);
