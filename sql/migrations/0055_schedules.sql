-- Changes of subscriptions that wait for their day (docs/domain.md 24.4, 25.5).
CREATE TABLE subscription_schedules (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  subscription_id text NOT NULL,
  schedule_type text NOT NULL CHECK (schedule_type IN ('plan_change', 'cancellation')),
  schedule_status text NOT NULL CHECK (schedule_status IN ('pending', 'executing', 'executed', 'failed', 'cancelled')),
  scheduled_at timestamptz(3) NOT NULL,
  configuration jsonb NOT NULL,
  -- What the subscription said before, which cancelling the schedule restores.
  previous jsonb NOT NULL,
  executed_at timestamptz(3),
  cancelled_at timestamptz(3),
  error text,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, subscription_id) REFERENCES subscriptions (tenant_id, environment_id, id)
);
CREATE INDEX subscription_schedules_of ON subscription_schedules (tenant_id, environment_id, subscription_id, created_at);
-- At most one change of a subscription is to come.
CREATE UNIQUE INDEX subscription_schedules_pending ON subscription_schedules (tenant_id, environment_id, subscription_id)
  WHERE schedule_status = 'pending';
SELECT isolate_environment('subscription_schedules');
