-- The environments that export something, for the job that looks for due windows (docs/internals/architecture.md, D-014).
CREATE OR REPLACE FUNCTION list_exporting(count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT task.tenant_id, task.environment_id FROM scheduled_tasks AS task
  WHERE task.enabled AND task.status = 'published'
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_exporting FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_exporting TO minutebook_programs;
