-- The corrections of events of a name that are in force, in the environment of the transaction (docs/internals/architecture.md D-026). Runs with the
-- rights of its caller.
CREATE OR REPLACE FUNCTION list_event_corrections(of_name text) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT coalesce(json_agg(json_build_object('id', correction_id, 'number', number, 'startMs', start_ms, 'endMs', end_ms) ORDER BY number), '[]')
  FROM event_correction_stretches
  WHERE is_applied AND event_name = of_name
    AND tenant_id = current_setting('minutebook.tenant_id', true)
    AND environment_id = current_setting('minutebook.environment_id', true)
$$;
REVOKE ALL ON FUNCTION list_event_corrections FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_event_corrections TO minutebook_app;
