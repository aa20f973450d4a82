-- The caller of an API key. Grain: at most one row (key_hash is unique). Runs as the owner, before any environment is
-- known. Parameters: key_hash bytea, SHA-256 of the key. Index: secrets_key_hash_key. Locks: none.
SELECT
  secrets.id,
  secrets.tenant_id,
  secrets.environment_id,
  secrets.user_id,
  secrets.type,
  secrets.expires_at,
  users.roles,
  tenants.status = 'suspended' AS is_tenant_suspended
FROM secrets
JOIN users ON users.tenant_id = secrets.tenant_id AND users.id = secrets.user_id
JOIN tenants ON tenants.id = secrets.tenant_id
WHERE secrets.key_hash = :key_hash
  AND secrets.status = 'published'
  AND users.status = 'published'
