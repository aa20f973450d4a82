-- Tenants, environments, users and API keys; the role and the policies that isolate environments.

-- Every statement on behalf of a tenant runs as this role, to which row-level security applies. Programs that serve all
-- tenants (aggregator, log, migrations) run as the owner, to whom it does not apply.
DO $$
BEGIN
  CREATE ROLE minutebook_app NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- roles belong to the cluster: another database or process has created it
END
$$;
GRANT minutebook_app TO CURRENT_USER;
GRANT USAGE ON SCHEMA public TO minutebook_app;

-- Isolates a table with tenant_id and environment_id: a transaction of the role sees and writes only rows of the
-- environment that its settings name; without these settings it sees none.
CREATE FUNCTION isolate_environment(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format(
    'CREATE POLICY environment_isolation ON %s TO minutebook_app
       USING (tenant_id = current_setting(''minutebook.tenant_id'', true)
          AND environment_id = current_setting(''minutebook.environment_id'', true))
       WITH CHECK (tenant_id = current_setting(''minutebook.tenant_id'', true)
          AND environment_id = current_setting(''minutebook.environment_id'', true))', target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO minutebook_app', target);
END
$$;

CREATE TABLE tenants (
  id text PRIMARY KEY,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('trialing', 'active', 'suspended')),
  metadata jsonb NOT NULL DEFAULT '{}',
  billing_details jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE environments (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants,
  name text NOT NULL,
  type text NOT NULL CHECK (type IN ('development', 'production')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (tenant_id, id)
);

CREATE TABLE users (
  id text PRIMARY KEY,
  tenant_id text NOT NULL REFERENCES tenants,
  name text,
  email text,
  type text NOT NULL DEFAULT 'user' CHECK (type IN ('user', 'service_account')),
  roles text[] NOT NULL DEFAULT '{}',
  metadata jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_by text,
  UNIQUE (tenant_id, id)
);

-- API keys. Only the SHA-256 of a key is stored, so nobody can call with a copy of this table.
CREATE TABLE secrets (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  user_id text NOT NULL,
  name text NOT NULL,
  type text NOT NULL CHECK (type IN ('private_key', 'publishable_key')),
  key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
  display_id text NOT NULL,
  expires_at timestamptz(3),
  status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
);
