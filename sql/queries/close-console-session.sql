-- Ends a session. No result. By a function of the owner (0109). Parameters: session_hash bytea.
SELECT close_console_session(:session_hash)
