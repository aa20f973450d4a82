-- Whoever signs in with an e-mail address. Grain: at most one row (users_email). Asked before the tenant is known, so by a
-- function that runs as the owner (0020). Parameters: email.
SELECT user_id, tenant_id, password_hash FROM find_login(:email)
