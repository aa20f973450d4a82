-- Settings of the alerts on what a subscription, a line item or a group spends (docs/domain.md 31); those of a feature are a column
-- of it. Programs of the previous release may run: they know nothing of this table.

CREATE TABLE alert_settings (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  entity_type text NOT NULL CHECK (entity_type IN ('subscription', 'subscription_line_item', 'group')),
  -- Of a table that the type says, which no foreign key can follow; the program holds the row while it stores the setting.
  entity_id text NOT NULL,
  alert_settings jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE UNIQUE INDEX alert_settings_of_entity ON alert_settings (tenant_id, environment_id, entity_id) WHERE status = 'published';
CREATE INDEX alert_settings_newest ON alert_settings (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('alert_settings');
