-- Exchanges a one-time code for a session. Grain: one row, none for a code that cannot be used. By a function of the owner (0109).
-- Parameters: code_hash, session_hash bytea; opened_ms, expires_ms.
SELECT tenant_id, user_id
FROM redeem_console_code(:code_hash, :session_hash, to_timestamp(:opened_ms / 1000.0), to_timestamp(:expires_ms / 1000.0))
