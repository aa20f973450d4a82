-- The environments that have movements, for the job that anchors them (docs/internals/architecture.md, D-014).
CREATE OR REPLACE FUNCTION list_ledgers(count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT environment.tenant_id, environment.id FROM environments AS environment
  WHERE EXISTS (SELECT FROM ledger_heads AS head
    WHERE head.tenant_id = environment.tenant_id AND head.environment_id = environment.id)
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_ledgers FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_ledgers TO minutebook_programs;
