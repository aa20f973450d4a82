-- Part of the statement that enters an environment: refuses a transaction whose program expected the test clock to show
-- something else. `expected` is the instant as the program knows it, or the empty text for no test clock. The error names
-- what the clock shows, so that the program can begin again. VOLATILE: it must run after the settings that come before it.
CREATE OR REPLACE FUNCTION check_test_clock(expected text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  shown timestamptz;
BEGIN
  SELECT test_clocks.now INTO shown
  FROM test_clocks
  WHERE test_clocks.tenant_id = current_setting('minutebook.tenant_id', true)
    AND test_clocks.environment_id = current_setting('minutebook.environment_id', true);
  IF shown IS DISTINCT FROM nullif(expected, '')::timestamptz THEN
    RAISE EXCEPTION 'the test clock of the environment shows something else'
      USING ERRCODE = 'MB001', DETAIL = coalesce((extract(epoch FROM shown) * 1000)::bigint::text, '');
  END IF;
END
$$;
REVOKE ALL ON FUNCTION check_test_clock FROM PUBLIC;
GRANT EXECUTE ON FUNCTION check_test_clock TO minutebook_programs;
