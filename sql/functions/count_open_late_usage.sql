-- How many lines of late usage of all environments are not charged yet (docs/operations.md 5.1).
CREATE OR REPLACE FUNCTION count_open_late_usage() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT count(*)
  FROM (SELECT DISTINCT tenant_id, environment_id FROM late_usage) AS environment
  CROSS JOIN LATERAL find_late_usage(environment.tenant_id, environment.environment_id) AS late
  WHERE late.amount <> late.charged_amount OR late.quantity <> late.charged_quantity
$$;
REVOKE ALL ON FUNCTION count_open_late_usage FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_open_late_usage TO minutebook_programs;
