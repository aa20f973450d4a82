-- For a statement outside of transactions of environments (docs/internals/architecture.md, D-014). Null: there is no test clock.
CREATE OR REPLACE FUNCTION find_test_clock(of_tenant text, of_environment text) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT test_clocks.now FROM test_clocks
  WHERE test_clocks.tenant_id = of_tenant AND test_clocks.environment_id = of_environment
$$;
REVOKE ALL ON FUNCTION find_test_clock FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_test_clock TO minutebook_programs;
