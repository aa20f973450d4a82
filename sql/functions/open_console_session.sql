-- Keeps a session of a user, and forgets those that have expired.
CREATE OR REPLACE FUNCTION open_console_session(session_hash bytea, tenant text, member text, opened timestamptz, expires timestamptz)
RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM console_sessions WHERE expires_at <= opened;
  INSERT INTO console_sessions (secret_hash, tenant_id, user_id, is_code, created_at, expires_at)
  VALUES (session_hash, tenant, member, false, opened, expires)
$$;
REVOKE ALL ON FUNCTION open_console_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_console_session TO minutebook_programs;
