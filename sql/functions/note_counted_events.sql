-- Notes that every event which was received before that instant is in ClickHouse. A server that crashes may forget it.
CREATE OR REPLACE FUNCTION note_counted_events(before timestamptz) RETURNS void LANGUAGE sql AS $$
  SELECT set_config('synchronous_commit', 'off', true);
  UPDATE counted_events SET received_before = greatest(received_before, before)
  WHERE received_before IS NULL OR received_before < before
$$;
REVOKE ALL ON FUNCTION note_counted_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_counted_events TO minutebook_programs;
