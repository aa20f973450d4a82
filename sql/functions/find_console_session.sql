-- Whose session this is, and since when: no row for one that was closed, has expired, or is a code.
CREATE OR REPLACE FUNCTION find_console_session(session_hash bytea, at timestamptz)
RETURNS TABLE (tenant_id text, user_id text, created_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT session.tenant_id, session.user_id, session.created_at FROM console_sessions AS session
  WHERE session.secret_hash = session_hash AND NOT session.is_code AND session.expires_at > at
$$;
REVOKE ALL ON FUNCTION find_console_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_console_session TO minutebook_programs;
