-- The periods of subscriptions as they were made (docs/domain.md 12.10). A subscription of an earlier release has no row
-- yet; its first period is then the one that its terms say.
CREATE TABLE subscription_periods (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  subscription_id text NOT NULL,
  period_index integer NOT NULL CHECK (period_index >= 0),
  kind text NOT NULL CHECK (kind IN ('trial', 'regular', 'threshold', 'last')),
  period_start timestamptz(3) NOT NULL,
  period_end timestamptz(3) NOT NULL CHECK (period_end > period_start),
  -- The anchor that the row was made under, and its number.
  anchor timestamptz(3) NOT NULL,
  anchor_number integer NOT NULL,
  grid_number integer NOT NULL,
  grid_start timestamptz(3) NOT NULL,
  grid_end timestamptz(3) NOT NULL CHECK (grid_end > grid_start),
  -- Pauses that have ended: [{"start": "2026-01-05T00:00:00.000Z", "end": "2026-01-15T00:00:00.000Z"}]
  pauses jsonb NOT NULL DEFAULT '[]',
  PRIMARY KEY (tenant_id, environment_id, subscription_id, period_index),
  FOREIGN KEY (tenant_id, environment_id, subscription_id)
    REFERENCES subscriptions (tenant_id, environment_id, id)
);
SELECT isolate_environment('subscription_periods');
