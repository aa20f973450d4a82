-- Whose session a cookie names. Grain: at most one row. By a function of the owner (0109). Parameters: session_hash bytea; now_ms.
SELECT tenant_id, user_id, created_at FROM find_console_session(:session_hash, to_timestamp(:now_ms / 1000.0))
