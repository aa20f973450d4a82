-- The same for programs of earlier releases, which are noted. A node that only reads notes nothing, and still finds keys.
CREATE OR REPLACE FUNCTION find_api_key(hash bytea)
RETURNS TABLE (id text, tenant_id text, environment_id text, user_id text, type text, expires_at timestamptz(3),
  roles text[], is_tenant_suspended boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF current_setting('transaction_read_only') = 'off' AND EXISTS (
    SELECT FROM unregistered_programs AS earlier
    WHERE earlier.seen_at IS NULL OR earlier.seen_at < clock_timestamp() - interval '1 minute')
  THEN
    UPDATE unregistered_programs AS earlier SET seen_at = clock_timestamp();
  END IF;
  RETURN QUERY SELECT * FROM find_key_caller(hash);
END
$$;
REVOKE ALL ON FUNCTION find_api_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_api_key TO minutebook_programs;
