-- Revokes the keys of a user of the transaction's tenant in all environments.
CREATE OR REPLACE FUNCTION revoke_keys_of_user(member text, revoked_at timestamptz, revoked_by text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF nullif(current_setting('minutebook.tenant_id', true), '') IS NULL OR revoked_at IS NULL THEN
    RAISE EXCEPTION 'the transaction must have entered an environment' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE secrets SET status = 'deleted', updated_at = revoked_at, updated_by = revoked_by
  WHERE tenant_id = current_setting('minutebook.tenant_id', true) AND user_id = member AND status = 'published';
END
$$;
REVOKE ALL ON FUNCTION revoke_keys_of_user FROM PUBLIC;
GRANT EXECUTE ON FUNCTION revoke_keys_of_user TO minutebook_app;
