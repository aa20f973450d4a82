-- Ends a session at once.
CREATE OR REPLACE FUNCTION close_console_session(session_hash bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  DELETE FROM console_sessions WHERE secret_hash = session_hash AND NOT is_code
$$;
REVOKE ALL ON FUNCTION close_console_session FROM PUBLIC;
GRANT EXECUTE ON FUNCTION close_console_session TO minutebook_programs;
