-- Environments with corrections of events that a look for late usage has to follow (docs/domain.md 13.8).
-- Index: event_correction_stretches_to_look_at.
CREATE OR REPLACE FUNCTION list_environments_to_look_at() RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT stretch.tenant_id, stretch.environment_id FROM event_correction_stretches AS stretch WHERE stretch.looks_left > 0
$$;
REVOKE ALL ON FUNCTION list_environments_to_look_at FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_environments_to_look_at TO minutebook_programs;
