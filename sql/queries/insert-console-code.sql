-- A one-time code that opens the console as a user, and no other code of that user. No result. As the owner.
-- Parameters: code_hash bytea; tenant_id, user_id; opened_ms, expires_ms.
WITH earlier AS (
  DELETE FROM console_sessions WHERE tenant_id = :tenant_id AND user_id = :user_id AND is_code
)
INSERT INTO console_sessions (secret_hash, tenant_id, user_id, is_code, created_at, expires_at)
VALUES (:code_hash, :tenant_id, :user_id, true, to_timestamp(:opened_ms / 1000.0), to_timestamp(:expires_ms / 1000.0))
