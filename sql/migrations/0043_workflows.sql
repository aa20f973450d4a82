-- Work that a request begins and a job does, which is polled until it is done (docs/http.md 14). Programs of the previous release may
-- run: they know nothing of this table.
CREATE TABLE workflows (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  run_id text NOT NULL,
  workflow_type text NOT NULL,
  workflow_status text NOT NULL CHECK (workflow_status IN ('Running', 'Completed', 'Failed', 'Canceled', 'Terminated', 'ContinuedAsNew',
    'TimedOut', 'Unknown')),
  -- What it works on, such as an invoice.
  entity text NOT NULL,
  entity_id text NOT NULL,
  start_time timestamptz(3) NOT NULL,
  close_time timestamptz(3) CHECK (close_time >= start_time),
  result jsonb,
  error_code text,
  error_message text,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id),
  CHECK ((workflow_status = 'Running') = (close_time IS NULL))
);
-- One at a time, whoever begins it.
CREATE UNIQUE INDEX workflows_running ON workflows (tenant_id, environment_id, workflow_type, entity_id)
  WHERE workflow_status = 'Running';
CREATE INDEX workflows_newest ON workflows (tenant_id, environment_id, created_at, id);
CREATE INDEX workflows_of_entity ON workflows (tenant_id, environment_id, entity_id, created_at, id);
SELECT isolate_environment('workflows');
