-- Replaces the password of a user of the transaction's tenant, if it still has the hash that was verified; tells whether it had.
CREATE OR REPLACE FUNCTION change_password(member text, verified_hash text, new_hash text, changed timestamptz) RETURNS boolean
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
REVOKE ALL ON FUNCTION change_password FROM PUBLIC;
GRANT EXECUTE ON FUNCTION change_password TO minutebook_app;
