-- The user whom a token names, and the environment of the request. Grain: at most one row; none for a user who was deleted, or a token of before a change of the
-- password.
-- Asked before any environment is entered, so by a function that runs as the owner (0020, 0063).
-- Parameters: tenant_id, user_id; environment_id, null when the request names none; issued_at_ms.
SELECT roles, is_tenant_suspended, environment_id, first_environment_id
FROM find_user_caller(:tenant_id, :user_id, :environment_id, to_timestamp(:issued_at_ms / 1000.0))
