-- Exchanges a one-time code for a session of its user: no row for a code that is unknown, used or expired. Of two requests with
-- one code, the second waits for the first and finds it gone.
CREATE OR REPLACE FUNCTION redeem_console_code(code_hash bytea, session_hash bytea, opened timestamptz, expires timestamptz)
RETURNS TABLE (tenant_id text, user_id text)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH used AS (
    DELETE FROM console_sessions AS code
    WHERE code.secret_hash = code_hash AND code.is_code AND code.expires_at > opened
    RETURNING code.tenant_id, code.user_id
  )
  INSERT INTO console_sessions AS session (secret_hash, tenant_id, user_id, is_code, created_at, expires_at)
  SELECT session_hash, used.tenant_id, used.user_id, false, opened, expires FROM used
  RETURNING session.tenant_id, session.user_id
$$;
REVOKE ALL ON FUNCTION redeem_console_code FROM PUBLIC;
GRANT EXECUTE ON FUNCTION redeem_console_code TO minutebook_programs;
