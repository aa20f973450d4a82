-- Environments whose stored events were being erased at some time since this one: two readings from then to now may
-- disagree. An erasure removes nothing before it has counted, and has removed everything when it is finished.
CREATE OR REPLACE FUNCTION list_environments_with_erasures(since timestamptz)
RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT erasure.tenant_id, erasure.environment_id FROM event_erasures AS erasure
  WHERE erasure.bounds IS NOT NULL AND (erasure.finished_at IS NULL OR erasure.finished_at >= since)
$$;
REVOKE ALL ON FUNCTION list_environments_with_erasures FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_environments_with_erasures TO minutebook_programs;
