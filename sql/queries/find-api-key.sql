-- The caller of an API key. Grain: at most one row (key_hash is unique). Asked before any environment is known, so by a
-- function that runs as the owner (0082). Parameters: key_hash bytea, SHA-256 of the key.
SELECT id, tenant_id, environment_id, user_id, type, expires_at, roles, is_tenant_suspended
FROM find_key_caller(:key_hash)
