-- Notes when keys were used last. Keys that another process notes at the same time are passed over.
CREATE OR REPLACE FUNCTION note_keys_used(keys text[], used_at timestamptz[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF cardinality(keys) IS DISTINCT FROM cardinality(used_at) OR cardinality(keys) NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'there must be 1 to 1000 keys, and a time for each' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  WITH used AS (
    SELECT DISTINCT ON (id) id, at FROM unnest(keys, used_at) AS given (id, at) ORDER BY id, at DESC
  ), free AS (
    SELECT secrets.id FROM secrets WHERE secrets.id = ANY (keys) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE secrets SET last_used_at = used.at FROM used JOIN free USING (id)
  WHERE secrets.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at);
END
$$;
REVOKE ALL ON FUNCTION note_keys_used FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_keys_used TO minutebook_programs;
