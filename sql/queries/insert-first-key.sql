-- Creates the first API key unless it exists: a revoked one stays revoked. No result.
-- Parameters: key_hash bytea, SHA-256 of the key; display_id, the part that may be shown.
INSERT INTO secrets (id, tenant_id, environment_id, user_id, name, type, key_hash, display_id)
VALUES (:id, :tenant_id, :environment_id, :user_id, 'First key', 'private_key', :key_hash, :display_id)
ON CONFLICT (key_hash) DO NOTHING
