-- Stores of customers to which files are exported, the tasks that do it, and their runs (docs/domain.md 33).
CREATE TABLE connections (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  name text NOT NULL,
  provider_type text NOT NULL CHECK (provider_type IN ('s3')),
  -- Sealed with the key of the configuration: nobody reads them from the database alone.
  secrets bytea NOT NULL,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE INDEX connections_newest ON connections (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('connections');

CREATE TABLE scheduled_tasks (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  connection_id text NOT NULL,
  entity_type text NOT NULL CHECK (entity_type IN ('events', 'invoice', 'credit_topups', 'credit_usage', 'usage_analytics')),
  interval text NOT NULL CHECK (interval IN ('15MIN', '30MIN', 'hourly', 'daily')),
  enabled boolean NOT NULL,
  job_config jsonb NOT NULL,
  -- Up to where its windows have been queued; null before the first.
  queued_until timestamptz(3),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, connection_id) REFERENCES connections (tenant_id, environment_id, id)
);
CREATE INDEX scheduled_tasks_newest ON scheduled_tasks (tenant_id, environment_id, created_at, id);
CREATE INDEX scheduled_tasks_enabled ON scheduled_tasks (tenant_id, environment_id) WHERE enabled AND status = 'published';
SELECT isolate_environment('scheduled_tasks');

CREATE TABLE tasks (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  task_type text NOT NULL CHECK (task_type = 'EXPORT'),
  entity_type text NOT NULL,
  task_status text NOT NULL CHECK (task_status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
  scheduled_task_id text NOT NULL,
  start_time timestamptz(3) NOT NULL,
  end_time timestamptz(3) NOT NULL CHECK (end_time > start_time),
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  file_url text,
  record_count bigint,
  error text,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  UNIQUE (tenant_id, environment_id, id),
  -- Each window is exported once by a task; exporting it again is the same row and the same file.
  UNIQUE (tenant_id, environment_id, scheduled_task_id, start_time, end_time),
  FOREIGN KEY (tenant_id, environment_id, scheduled_task_id) REFERENCES scheduled_tasks (tenant_id, environment_id, id)
);
CREATE INDEX tasks_newest ON tasks (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('tasks');

-- The environments that export something, for the job that looks for due windows (docs/architecture.md, D-014).
CREATE FUNCTION list_exporting(count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT task.tenant_id, task.environment_id FROM scheduled_tasks AS task
  WHERE task.enabled AND task.status = 'published'
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_exporting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_exporting TO minutebook_programs;
