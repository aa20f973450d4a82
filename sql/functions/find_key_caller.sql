-- The caller of an API key, before any environment is known: at most one row, and none for what is not a SHA-256.
-- Index: secrets_key_hash_key.
CREATE OR REPLACE FUNCTION find_key_caller(hash bytea)
RETURNS TABLE (id text, tenant_id text, environment_id text, user_id text, type text, expires_at timestamptz(3),
  roles text[], is_tenant_suspended boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT secrets.id, secrets.tenant_id, secrets.environment_id, secrets.user_id, secrets.type, secrets.expires_at,
    users.roles, tenants.status = 'suspended'
  FROM secrets
  JOIN users ON users.tenant_id = secrets.tenant_id AND users.id = secrets.user_id
  JOIN tenants ON tenants.id = secrets.tenant_id
  WHERE secrets.key_hash = hash AND octet_length(hash) = 32
    AND secrets.status = 'published' AND users.status = 'published'
$$;
REVOKE ALL ON FUNCTION find_key_caller FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_key_caller TO minutebook_programs;
