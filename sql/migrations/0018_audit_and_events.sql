-- The audit trail (docs/http.md 15) and the system events (docs/http.md 11.3): what a change of a record leaves behind in
-- its own transaction. Programs of the previous release may run; what they change leaves neither.

CREATE TABLE audit_entries (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  entity_type text NOT NULL,
  entity_id text NOT NULL,
  action text NOT NULL CHECK (action IN ('created', 'updated', 'archived', 'deleted')),
  -- The record with all of its columns.
  before jsonb,
  after jsonb NOT NULL,
  user_id text NOT NULL,
  -- Null when the caller came with a token.
  api_key_id text,
  request_id text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE INDEX audit_entries_newest ON audit_entries (tenant_id, environment_id, created_at, id);
CREATE INDEX audit_entries_of_entity ON audit_entries (tenant_id, environment_id, entity_id, created_at, id);
SELECT isolate_environment('audit_entries');
-- What was done stays done: the programs add entries and read them.
REVOKE UPDATE, DELETE ON audit_entries FROM minutebook_app;

CREATE TABLE system_events (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  -- 1, 2, 3 … in every environment, without gaps and in the order in which the changes became visible.
  sequence bigint NOT NULL CHECK (sequence >= 1),
  event_name text NOT NULL,
  entity_type text NOT NULL,
  entity_id text NOT NULL,
  -- json and not jsonb: every delivery sends these bytes.
  payload json NOT NULL,
  published_at timestamptz(3),
  failure_count integer NOT NULL DEFAULT 0 CHECK (failure_count >= 0),
  failure_reason text,
  created_at timestamptz(3) NOT NULL,
  UNIQUE (tenant_id, environment_id, sequence),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
SELECT isolate_environment('system_events');
REVOKE DELETE ON system_events FROM minutebook_app;

-- The last number of each environment. A transaction that writes events holds the row until its end, so that nobody sees
-- number 8 before number 7.
CREATE TABLE system_event_counters (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  last_sequence bigint NOT NULL CHECK (last_sequence >= 1),
  PRIMARY KEY (tenant_id, environment_id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
SELECT isolate_environment('system_event_counters');
REVOKE DELETE ON system_event_counters FROM minutebook_app;
