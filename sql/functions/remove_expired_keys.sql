-- Removes at most rows_max answers of Idempotency-Keys that had expired at that time, of all environments; returns how
-- many. Rows that another process removes are passed over. Index: idempotency_keys_expired.
CREATE OR REPLACE FUNCTION remove_expired_keys(expired_at timestamptz, rows_max integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  removed integer;
BEGIN
  IF expired_at IS NULL OR rows_max IS NULL OR rows_max NOT BETWEEN 1 AND 10000 THEN
    RAISE EXCEPTION 'rows_max must be 1 to 10000, and the time must be given' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  WITH expired AS (
    SELECT tenant_id, environment_id, key FROM idempotency_keys
    WHERE expires_at <= expired_at ORDER BY expires_at LIMIT rows_max FOR UPDATE SKIP LOCKED
  )
  DELETE FROM idempotency_keys AS old USING expired
  WHERE old.tenant_id = expired.tenant_id AND old.environment_id = expired.environment_id AND old.key = expired.key;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;
REVOKE ALL ON FUNCTION remove_expired_keys FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_expired_keys TO minutebook_programs;
