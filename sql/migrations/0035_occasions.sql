-- By whom and when a change is made (docs/http.md 15, docs/domain.md 32.4). Programs of the previous release may run: what they
-- change, they change for a request.

-- A job and an operator are no users and make no requests.
ALTER TABLE audit_entries
  ALTER COLUMN user_id DROP NOT NULL,
  ALTER COLUMN request_id DROP NOT NULL,
  ADD COLUMN actor_kind text NOT NULL DEFAULT 'request',
  -- Of a job its name, of an operator that of the account; null for a request.
  ADD COLUMN actor_name text,
  -- Of a job: which run it was.
  ADD COLUMN run_id text,
  -- NOT VALID: all earlier entries are of requests, and nobody waits while they are read.
  ADD CONSTRAINT audit_entries_actor CHECK (
    CASE actor_kind
      WHEN 'request' THEN user_id IS NOT NULL AND request_id IS NOT NULL AND actor_name IS NULL AND run_id IS NULL
      WHEN 'job' THEN user_id IS NULL AND api_key_id IS NULL AND request_id IS NULL AND actor_name IS NOT NULL AND run_id IS NOT NULL
      WHEN 'operator' THEN user_id IS NULL AND api_key_id IS NULL AND request_id IS NULL AND actor_name IS NOT NULL AND run_id IS NULL
      ELSE false
    END) NOT VALID;
CREATE INDEX audit_entries_of_actor ON audit_entries (tenant_id, environment_id, actor_kind, created_at, id);

-- What If-Match compares: `version` counts the definitions of a meter and stays as it is when its name changes.
ALTER TABLE meters ADD COLUMN record_version integer NOT NULL DEFAULT 1 CHECK (record_version >= 1);

-- What the clock of an environment shows instead of that of the machine, while it has one.
CREATE TABLE test_clocks (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  now timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, environment_id),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
SELECT isolate_environment('test_clocks');

-- Part of the statement that enters an environment: refuses a transaction whose program expected the test clock to show
-- something else. `expected` is the instant as the program knows it, or the empty text for no test clock. The error names
-- what the clock shows, so that the program can begin again. VOLATILE: it must run after the settings that come before it.
CREATE FUNCTION check_test_clock(expected text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
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

-- For a statement outside of transactions of environments (docs/architecture.md, D-014). Null: there is no test clock.
CREATE FUNCTION find_test_clock(of_tenant text, of_environment text) RETURNS timestamptz
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT test_clocks.now FROM test_clocks
  WHERE test_clocks.tenant_id = of_tenant AND test_clocks.environment_id = of_environment
$$;
REVOKE ALL ON FUNCTION check_test_clock, find_test_clock FROM PUBLIC;
GRANT EXECUTE ON FUNCTION check_test_clock, find_test_clock TO minutebook_programs;
