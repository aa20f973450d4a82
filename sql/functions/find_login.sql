-- Whoever signs in with an e-mail address, whatever its case: at most one row. Index: users_email.
CREATE OR REPLACE FUNCTION find_login(address text) RETURNS TABLE (user_id text, tenant_id text, password_hash text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT users.id, users.tenant_id, user_passwords.password_hash
  FROM users JOIN user_passwords ON user_passwords.tenant_id = users.tenant_id AND user_passwords.user_id = users.id
  WHERE lower(users.email) = lower(address) AND users.status = 'published'
$$;
REVOKE ALL ON FUNCTION find_login FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_login TO minutebook_programs;
