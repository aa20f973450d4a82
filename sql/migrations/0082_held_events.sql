-- Up to when everything that was received is counted, exactly (docs/architecture.md 4.5): processes of ingest say since when they may hold
-- events that the log does not have, and an aggregator notes up to when all is counted.
-- Programs of the previous release may run. Their ingest says nothing of what it holds, so that nothing is noted while it may accept events.

-- A row for each process of ingest that accepts events. Whoever accepts one is sure that its row counts at that time.
CREATE TABLE ingest_processes (
  id text PRIMARY KEY,
  log text NOT NULL,
  -- Every event that it received before has been acknowledged by the log, or was refused.
  held_since timestamptz(3) NOT NULL,
  reported_at timestamptz NOT NULL,
  -- One that was silent for longer counts no more; it has ceased to accept events by then.
  silent_max interval NOT NULL
) WITH (fillfactor = 50);

-- One row: every event that was received before is in ClickHouse; NULL while nothing is known. It stays true for ever.
CREATE TABLE counted_events (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  received_before timestamptz(3)
) WITH (fillfactor = 50);
INSERT INTO counted_events DEFAULT VALUES;

-- One row: when a program of a release before this migration last looked up an API key, to within a minute; NULL for never. Its ingest does
-- so at least once a second for each key, and before it reads the first event that comes with it.
CREATE TABLE unregistered_programs (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  seen_at timestamptz
);
INSERT INTO unregistered_programs DEFAULT VALUES;

GRANT SELECT, INSERT, UPDATE, DELETE ON ingest_processes TO minutebook_programs;
GRANT SELECT, UPDATE ON counted_events TO minutebook_programs;
GRANT SELECT ON unregistered_programs TO minutebook_programs;

-- Notes since when a process of ingest may hold events, and that it lives. Its first report is durable before the answer, since it accepts
-- events from then on; later ones need not be, because an earlier instant is as true. Removes processes that ended long ago without a word.
CREATE FUNCTION report_ingest_process(process text, of_log text, since timestamptz, silent interval) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE ingest_processes AS known
  SET held_since = greatest(known.held_since, since), reported_at = clock_timestamp()
  WHERE known.id = process;
  IF FOUND THEN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN;
  END IF;
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  DELETE FROM ingest_processes AS old WHERE old.reported_at < clock_timestamp() - old.silent_max - interval '1 day';
  INSERT INTO ingest_processes (id, log, held_since, reported_at, silent_max)
  VALUES (process, of_log, since, clock_timestamp(), silent)
  ON CONFLICT (id) DO UPDATE SET reported_at = clock_timestamp();
END
$$;

-- Since when any process of ingest may hold events of this log; NULL when that is not known: none says so, one of another log lives, or a
-- program of an earlier release may accept events. Read it before the ends of the log.
CREATE FUNCTION find_held_since(of_log text) RETURNS timestamptz(3) LANGUAGE sql AS $$
  SELECT CASE WHEN bool_and(process.log = of_log) AND NOT EXISTS (
      SELECT FROM unregistered_programs AS earlier WHERE earlier.seen_at > clock_timestamp() - interval '15 minutes')
    THEN min(process.held_since) END
  FROM ingest_processes AS process
  WHERE process.reported_at > clock_timestamp() - process.silent_max
$$;

-- Notes that every event which was received before that instant is in ClickHouse. A server that crashes may forget it.
CREATE FUNCTION note_counted_events(before timestamptz) RETURNS void LANGUAGE sql AS $$
  SELECT set_config('synchronous_commit', 'off', true);
  UPDATE counted_events SET received_before = greatest(received_before, before)
  WHERE received_before IS NULL OR received_before < before
$$;

-- Every event that was received before this instant is in ClickHouse; never later than now, NULL while nothing is known. It names no
-- tenant, and usage queries ask for it after they have entered an environment.
CREATE FUNCTION find_counted_events() RETURNS timestamptz(3)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT least(received_before, statement_timestamp()) FROM counted_events WHERE received_before IS NOT NULL
$$;

REVOKE ALL ON FUNCTION report_ingest_process, find_held_since, note_counted_events, find_counted_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION report_ingest_process, find_held_since, note_counted_events TO minutebook_programs;
GRANT EXECUTE ON FUNCTION find_counted_events TO minutebook_programs, minutebook_app;

-- As in 0017, but asked at the beginning of the statement: what is appended between that and the reading is not before it.
CREATE OR REPLACE FUNCTION find_pending_append()
RETURNS TABLE (asked_at timestamptz(3), is_known boolean, pending_since timestamptz(3)) LANGUAGE sql AS $$
  SELECT statement_timestamp()::timestamptz(3), count(p.partition) > 0, min(pending.appended_at)
  FROM (SELECT) AS always
  LEFT JOIN event_logs l ON true
  LEFT JOIN event_log_partitions p ON l.log_id IS NOT NULL
  LEFT JOIN aggregator_checkpoints c ON c.log = l.log_id AND c.partition = p.partition
  LEFT JOIN LATERAL (
    SELECT b.appended_at FROM event_log_batches b
    WHERE b.partition = p.partition AND b.end_offset > coalesce(c.next_offset, 0)
    ORDER BY b.end_offset LIMIT 1
  ) AS pending ON true
$$;

-- The caller of an API key, before any environment is known: at most one row, and none for what is not a SHA-256.
-- Index: secrets_key_hash_key.
CREATE FUNCTION find_key_caller(hash bytea)
RETURNS TABLE (id text, tenant_id text, environment_id text, user_id text, type text, expires_at timestamptz(3),
  roles text[], is_tenant_suspended boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT secrets.id, secrets.tenant_id, secrets.environment_id, secrets.user_id, secrets.type, secrets.expires_at,
    users.roles, tenants.status = 'suspended'
  FROM secrets
  JOIN users ON users.tenant_id = secrets.tenant_id AND users.id = secrets.user_id
  JOIN tenants ON tenants.id = secrets.tenant_id
  WHERE secrets.key_hash = hash AND octet_length(hash) = 32
    AND secrets.status = 'published' AND users.status = 'published'
$$;

-- The same for programs of earlier releases, which are noted. A node that only reads notes nothing, and still finds keys.
CREATE OR REPLACE FUNCTION find_api_key(hash bytea)
RETURNS TABLE (id text, tenant_id text, environment_id text, user_id text, type text, expires_at timestamptz(3),
  roles text[], is_tenant_suspended boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF current_setting('transaction_read_only') = 'off' AND EXISTS (
    SELECT FROM unregistered_programs AS earlier
    WHERE earlier.seen_at IS NULL OR earlier.seen_at < clock_timestamp() - interval '1 minute')
  THEN
    UPDATE unregistered_programs AS earlier SET seen_at = clock_timestamp();
  END IF;
  RETURN QUERY SELECT * FROM find_key_caller(hash);
END
$$;

REVOKE ALL ON FUNCTION find_key_caller FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_key_caller TO minutebook_programs;
