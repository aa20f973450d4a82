-- Keeps a session of the console. No result. By a function of the owner, since no environment is entered yet (0109).
-- Parameters: session_hash bytea; tenant_id, user_id; opened_ms, expires_ms.
SELECT open_console_session(:session_hash, :tenant_id, :user_id, to_timestamp(:opened_ms / 1000.0), to_timestamp(:expires_ms / 1000.0))
