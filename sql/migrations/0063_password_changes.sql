-- Passwords that are changed. Programs of the previous release may run: they go on accepting tokens that were issued before.

-- By the clock with which tokens are signed; null for a password that was never changed.
ALTER TABLE user_passwords ADD COLUMN changed_at timestamptz(3);

-- Replaces the password of a user of the transaction's tenant, if it still has the hash that was verified; tells whether it had.
CREATE FUNCTION change_password(member text, verified_hash text, new_hash text, changed timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF nullif(current_setting('minutebook.tenant_id', true), '') IS NULL OR new_hash IS NULL OR changed IS NULL THEN
    RAISE EXCEPTION 'the transaction must have entered an environment' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE user_passwords SET password_hash = new_hash, changed_at = changed
  WHERE tenant_id = current_setting('minutebook.tenant_id', true) AND user_id = member AND password_hash = verified_hash;
  RETURN FOUND;
END
$$;

-- As with three parameters, but no row for a token that was issued before the password was changed. Tokens tell whole seconds.
CREATE FUNCTION find_user_caller(tenant text, member text, wanted_environment text, issued_at timestamptz)
RETURNS TABLE (roles text[], is_tenant_suspended boolean, environment_id text, first_environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT * FROM find_user_caller(tenant, member, wanted_environment)
  WHERE NOT EXISTS (
    SELECT FROM user_passwords
    WHERE tenant_id = tenant AND user_id = member AND date_trunc('second', changed_at) > issued_at
  )
$$;

REVOKE ALL ON FUNCTION change_password(text, text, text, timestamptz), find_user_caller(text, text, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION change_password(text, text, text, timestamptz) TO minutebook_app;
GRANT EXECUTE ON FUNCTION find_user_caller(text, text, text, timestamptz) TO minutebook_programs;
