-- Ids of meters behind an id with their environments, in order of their ids, of all tenants: for the recount of usage,
-- which then reads each environment's meters under row-level security.
CREATE OR REPLACE FUNCTION list_meters_to_recount(behind_id text, rows_max integer)
RETURNS TABLE (id text, tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT meters.id, meters.tenant_id, meters.environment_id FROM meters
  WHERE meters.id > behind_id AND meters.status <> 'deleted'
  ORDER BY meters.id LIMIT greatest(0, least(rows_max, 1000))
$$;
REVOKE ALL ON FUNCTION list_meters_to_recount FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_meters_to_recount TO minutebook_programs;
