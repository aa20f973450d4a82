-- Sign-up and sign-in, users, environments, API keys and settings through the interface (docs/http.md 2). Programs of the
-- previous release may run: they write none of these tables.

ALTER TABLE tenants ADD COLUMN limits jsonb; -- the setting tenant_limits; null: the defaults

-- What every record has.
ALTER TABLE environments
  ADD COLUMN status text NOT NULL DEFAULT 'published' CHECK (status IN ('published', 'deleted', 'archived')),
  ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN created_by text,
  ADD COLUMN updated_by text;
ALTER TABLE secrets
  ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN created_by text,
  ADD COLUMN updated_by text,
  ADD COLUMN last_used_at timestamptz(3);

-- Somebody signs in with an e-mail address alone, so it is unique among all tenants.
CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE email IS NOT NULL AND status = 'published';
CREATE INDEX users_newest ON users (tenant_id, created_at, id);
CREATE INDEX environments_newest ON environments (tenant_id, created_at, id);
CREATE INDEX secrets_newest ON secrets (tenant_id, environment_id, created_at, id);
CREATE INDEX secrets_of_user ON secrets (tenant_id, user_id);

-- Tenants, users and environments belong to no environment: their tenant reads and changes them. A tenant adds itself when
-- somebody signs up.
CREATE POLICY tenant_adds ON tenants FOR INSERT TO minutebook_app
  WITH CHECK (id = current_setting('minutebook.tenant_id', true));
CREATE POLICY tenant_changes ON tenants FOR UPDATE TO minutebook_app
  USING (id = current_setting('minutebook.tenant_id', true));
CREATE POLICY tenant_adds ON users FOR INSERT TO minutebook_app
  WITH CHECK (tenant_id = current_setting('minutebook.tenant_id', true));
CREATE POLICY tenant_changes ON users FOR UPDATE TO minutebook_app
  USING (tenant_id = current_setting('minutebook.tenant_id', true));
CREATE POLICY tenant_reads ON environments FOR SELECT TO minutebook_app
  USING (tenant_id = current_setting('minutebook.tenant_id', true));
CREATE POLICY tenant_adds ON environments FOR INSERT TO minutebook_app
  WITH CHECK (tenant_id = current_setting('minutebook.tenant_id', true));
CREATE POLICY tenant_changes ON environments FOR UPDATE TO minutebook_app
  USING (tenant_id = current_setting('minutebook.tenant_id', true));
GRANT SELECT, INSERT, UPDATE ON tenants, users, environments TO minutebook_app;

-- A key belongs to an environment.
CREATE POLICY environment_isolation ON secrets TO minutebook_app
  USING (tenant_id = current_setting('minutebook.tenant_id', true)
     AND environment_id = current_setting('minutebook.environment_id', true))
  WITH CHECK (tenant_id = current_setting('minutebook.tenant_id', true)
     AND environment_id = current_setting('minutebook.environment_id', true));
GRANT SELECT, INSERT, UPDATE ON secrets TO minutebook_app;

-- Apart from users, so that no statement about users reads a hash. The programs add one; only find_login reads it.
CREATE TABLE user_passwords (
  user_id text PRIMARY KEY,
  tenant_id text NOT NULL,
  -- Argon2id in the PHC form, with its salt and parameters.
  password_hash text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  FOREIGN KEY (tenant_id, user_id) REFERENCES users (tenant_id, id)
);
SELECT force_row_security('user_passwords');
CREATE POLICY tenant_adds ON user_passwords FOR INSERT TO minutebook_app
  WITH CHECK (tenant_id = current_setting('minutebook.tenant_id', true));
GRANT INSERT ON user_passwords TO minutebook_app;

-- Settings of an environment that differ from the defaults (docs/http.md 2.2).
CREATE TABLE settings (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  key text NOT NULL,
  -- What the last PUT said; the defaults of the release that reads it stand below.
  value jsonb NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  updated_by text NOT NULL,
  PRIMARY KEY (tenant_id, environment_id, key),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
SELECT isolate_environment('settings');

-- Functions of the owner, because no environment is known yet, or rows of several are meant (docs/architecture.md D-014).

-- Whoever signs in with an e-mail address, whatever its case: at most one row. Index: users_email.
CREATE FUNCTION find_login(address text) RETURNS TABLE (user_id text, tenant_id text, password_hash text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT users.id, users.tenant_id, user_passwords.password_hash
  FROM users JOIN user_passwords ON user_passwords.tenant_id = users.tenant_id AND user_passwords.user_id = users.id
  WHERE lower(users.email) = lower(address) AND users.status = 'published'
$$;

-- The user that a token names: no row for one who was deleted. environment_id is the wanted one, null when the tenant has no
-- such environment; first_environment_id is the tenant's oldest one of production, or else its oldest.
CREATE FUNCTION find_user_caller(tenant text, member text, wanted_environment text)
RETURNS TABLE (roles text[], is_tenant_suspended boolean, environment_id text, first_environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT users.roles, tenants.status = 'suspended',
    (SELECT id FROM environments WHERE environments.tenant_id = tenant AND id = wanted_environment),
    (SELECT id FROM environments WHERE environments.tenant_id = tenant ORDER BY type = 'production' DESC, id LIMIT 1)
  FROM users JOIN tenants ON tenants.id = users.tenant_id
  WHERE users.tenant_id = tenant AND users.id = member AND users.status = 'published'
$$;

-- Notes when keys were used last. Keys that another process notes at the same time are passed over.
CREATE FUNCTION note_keys_used(keys text[], used_at timestamptz[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF cardinality(keys) IS DISTINCT FROM cardinality(used_at) OR cardinality(keys) NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'there must be 1 to 1000 keys, and a time for each' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  WITH used AS (
    SELECT DISTINCT ON (id) id, at FROM unnest(keys, used_at) AS given (id, at) ORDER BY id, at DESC
  ), free AS (
    SELECT secrets.id FROM secrets WHERE secrets.id = ANY (keys) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE secrets SET last_used_at = used.at FROM used JOIN free USING (id)
  WHERE secrets.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at);
END
$$;

-- Revokes the keys of a user of the transaction's tenant in all environments.
CREATE FUNCTION revoke_keys_of_user(member text, revoked_at timestamptz, revoked_by text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF nullif(current_setting('minutebook.tenant_id', true), '') IS NULL OR revoked_at IS NULL THEN
    RAISE EXCEPTION 'the transaction must have entered an environment' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE secrets SET status = 'deleted', updated_at = revoked_at, updated_by = revoked_by
  WHERE tenant_id = current_setting('minutebook.tenant_id', true) AND user_id = member AND status = 'published';
END
$$;

REVOKE ALL ON FUNCTION find_login, find_user_caller, note_keys_used, revoke_keys_of_user FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_login, find_user_caller, note_keys_used TO minutebook_programs;
GRANT EXECUTE ON FUNCTION revoke_keys_of_user TO minutebook_app;
