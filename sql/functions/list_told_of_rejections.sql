-- Environments that want to be told of events that no meter counts (docs/http.md 11.3). As list_exporting() of 0050.
CREATE OR REPLACE FUNCTION list_told_of_rejections(count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT setting.tenant_id, setting.environment_id FROM settings AS setting
  WHERE setting.key = 'event_rejected' AND setting.value @> '{"enabled": true}'
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_told_of_rejections FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_told_of_rejections TO minutebook_programs;
