-- Row-level security binds the owner of the tables too, and the programs work as a role that owns nothing
-- (docs/architecture.md, D-014). Programs of the previous release go on meanwhile: they log in as the owner, who keeps a policy
-- and every function by its name.

-- What the programs are outside a transaction of a tenant. It has no right to any table with a tenant: what it must know
-- across tenants it learns from the functions below, which answer that one question only. NOINHERIT: it has the rights of
-- minutebook_app only after SET ROLE, which Database.asEnvironment does together with naming the environment.
DO $$
BEGIN
  CREATE ROLE minutebook_programs NOLOGIN NOINHERIT;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- roles belong to the cluster: another database or process has created it
END
$$;
GRANT minutebook_app TO minutebook_programs;
GRANT minutebook_programs TO CURRENT_USER;
GRANT USAGE ON SCHEMA public TO minutebook_programs;
-- A server that was upgraded from PostgreSQL 14 or earlier may still let everybody create objects there.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- Binds a table to row-level security for everybody, its owner included. The owner keeps a policy of its own, by name:
-- migrations, the functions below and `pg_dump --enable-row-security` need every row. A role that comes to own the table
-- by mistake sees nothing.
CREATE FUNCTION force_row_security(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', target);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', target);
  EXECUTE format('CREATE POLICY owner_administers ON %s TO %I USING (true) WITH CHECK (true)', target, current_user);
END
$$;
REVOKE ALL ON FUNCTION force_row_security FROM PUBLIC;

-- As in 0001, and forced.
CREATE OR REPLACE FUNCTION isolate_environment(target regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM force_row_security(target);
  EXECUTE format(
    'CREATE POLICY environment_isolation ON %s TO minutebook_app
       USING (tenant_id = current_setting(''minutebook.tenant_id'', true)
          AND environment_id = current_setting(''minutebook.environment_id'', true))
       WITH CHECK (tenant_id = current_setting(''minutebook.tenant_id'', true)
          AND environment_id = current_setting(''minutebook.environment_id'', true))', target);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO minutebook_app', target);
END
$$;
REVOKE ALL ON FUNCTION isolate_environment FROM PUBLIC;

-- Every table with a tenant that exists by now, and those whose rows belong to a tenant without saying so.
SELECT force_row_security(relation.oid)
FROM pg_class AS relation
WHERE relation.relnamespace = 'public'::regnamespace AND relation.relkind IN ('r', 'p')
  AND (relation.relname IN ('tenants', 'meter_start_offsets', 'meter_ends')
    OR EXISTS (SELECT FROM pg_attribute AS member
               WHERE member.attrelid = relation.oid AND member.attname = 'tenant_id' AND NOT member.attisdropped));

-- A user and the tenant belong to no environment: their tenant reads them.
CREATE POLICY tenant_reads ON users FOR SELECT TO minutebook_app
  USING (tenant_id = current_setting('minutebook.tenant_id', true));
CREATE POLICY tenant_reads ON tenants FOR SELECT TO minutebook_app
  USING (id = current_setting('minutebook.tenant_id', true));
GRANT SELECT ON users, tenants TO minutebook_app;

-- Tables without a tenant: the log, and what the aggregators share.
GRANT SELECT, INSERT ON event_logs TO minutebook_programs;
GRANT SELECT, INSERT, UPDATE ON event_log_partitions TO minutebook_programs;
GRANT SELECT, INSERT, DELETE ON event_log_batches TO minutebook_programs;
GRANT SELECT, UPDATE ON catalog_counter TO minutebook_programs;
GRANT SELECT, INSERT, UPDATE ON aggregator_checkpoints TO minutebook_programs;
GRANT SELECT, INSERT, UPDATE, DELETE ON aggregator_members TO minutebook_programs;
GRANT EXECUTE ON FUNCTION open_event_log, append_event_log, event_log_bounds, read_event_log, trim_event_log
  TO minutebook_programs;

-- Functions that run as the owner. Each checks its arguments and looks names up in `public` only, never in temporary
-- objects of the caller. docs/architecture.md D-014 lists them, and sql/row-security.db.test.ts compares.
ALTER FUNCTION show_meter_backfill SET search_path = public, pg_temp;

-- Raises an error unless the transaction has entered this environment, and the meter, when it is known, belongs to it.
CREATE FUNCTION require_meter_of_environment(meter text, tenant text, environment text) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF tenant IS DISTINCT FROM nullif(current_setting('minutebook.tenant_id', true), '')
    OR environment IS DISTINCT FROM nullif(current_setting('minutebook.environment_id', true), '')
    OR tenant IS NULL OR environment IS NULL
    OR EXISTS (SELECT FROM meters WHERE id = meter AND (tenant_id, environment_id) <> (tenant, environment))
    OR EXISTS (SELECT FROM meter_versions
               WHERE meter_id = meter AND (tenant_id, environment_id) <> (tenant, environment)) THEN
    RAISE EXCEPTION 'meter % is not of the environment of this transaction', meter
      USING ERRCODE = 'insufficient_privilege';
  END IF;
END
$$;
REVOKE ALL ON FUNCTION require_meter_of_environment FROM PUBLIC;

-- The three changes of a meter keep their text under another name, without rights of their own; the functions that bear
-- the old names check the arguments first.
ALTER FUNCTION activate_meter_version RENAME TO apply_meter_activation;
ALTER FUNCTION apply_meter_activation SECURITY INVOKER RESET search_path;
REVOKE ALL ON FUNCTION apply_meter_activation FROM PUBLIC, minutebook_app;
ALTER FUNCTION revert_meter_version RENAME TO apply_meter_reversal;
ALTER FUNCTION apply_meter_reversal SECURITY INVOKER RESET search_path;
REVOKE ALL ON FUNCTION apply_meter_reversal FROM PUBLIC, minutebook_app;
ALTER FUNCTION end_meter RENAME TO apply_meter_end;
ALTER FUNCTION apply_meter_end SECURITY INVOKER RESET search_path;
REVOKE ALL ON FUNCTION apply_meter_end FROM PUBLIC, minutebook_app;

CREATE FUNCTION activate_meter_version(
  meter text, definition_version integer, tenant text, environment text, name text, definition_filters jsonb,
  aggregation jsonb DEFAULT '{"type": "COUNT"}'
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM require_meter_of_environment(meter, tenant, environment);
  RETURN apply_meter_activation(
    meter, definition_version, tenant, environment, name, definition_filters, aggregation);
END
$$;
REVOKE ALL ON FUNCTION activate_meter_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION activate_meter_version TO minutebook_app;

CREATE FUNCTION revert_meter_version(meter text, definition_version integer, stream integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM require_meter_of_environment(
    meter, current_setting('minutebook.tenant_id', true), current_setting('minutebook.environment_id', true));
  PERFORM apply_meter_reversal(meter, definition_version, stream);
END
$$;
REVOKE ALL ON FUNCTION revert_meter_version FROM PUBLIC;
GRANT EXECUTE ON FUNCTION revert_meter_version TO minutebook_app;

CREATE FUNCTION end_meter(meter text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM require_meter_of_environment(
    meter, current_setting('minutebook.tenant_id', true), current_setting('minutebook.environment_id', true));
  PERFORM apply_meter_end(meter);
END
$$;
REVOKE ALL ON FUNCTION end_meter FROM PUBLIC;
GRANT EXECUTE ON FUNCTION end_meter TO minutebook_app;

-- The caller of an API key, before any environment is known: at most one row, and none for what is not a SHA-256.
-- Index: secrets_key_hash_key.
CREATE FUNCTION find_api_key(hash bytea)
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

-- Removes at most rows_max answers of Idempotency-Keys that had expired at that time, of all environments; returns how
-- many. Rows that another process removes are passed over. Index: idempotency_keys_expired.
CREATE FUNCTION remove_expired_keys(expired_at timestamptz, rows_max integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  removed integer;
BEGIN
  IF expired_at IS NULL OR rows_max IS NULL OR rows_max NOT BETWEEN 1 AND 10000 THEN
    RAISE EXCEPTION 'rows_max must be 1 to 10000, and the time must be given' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  WITH expired AS (
    SELECT tenant_id, environment_id, key FROM idempotency_keys
    WHERE expires_at <= expired_at ORDER BY expires_at LIMIT rows_max FOR UPDATE SKIP LOCKED
  )
  DELETE FROM idempotency_keys AS old USING expired
  WHERE old.tenant_id = expired.tenant_id AND old.environment_id = expired.environment_id AND old.key = expired.key;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;

-- Ids of meters behind an id with their environments, in order of their ids, of all tenants: for the recount of usage,
-- which then reads each environment's meters under row-level security.
CREATE FUNCTION list_meters_to_recount(behind_id text, rows_max integer)
RETURNS TABLE (id text, tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT meters.id, meters.tenant_id, meters.environment_id FROM meters
  WHERE meters.id > behind_id AND meters.status <> 'deleted'
  ORDER BY meters.id LIMIT greatest(0, least(rows_max, 1000))
$$;

-- Meters of one catalog version, of all tenants; a meter that is being changed has two rows. The order never changes,
-- since the rows of a batch depend on it. Index: meter_versions_in_force.
CREATE FUNCTION meters_of_catalog(catalog bigint)
RETURNS TABLE (meter_id text, version integer, tenant_id text, environment_id text, event_name text, filters jsonb,
  generation bigint, aggregation_type text, aggregation_field text, aggregation_expression text,
  aggregation_multiplier numeric, aggregation_group_by text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT v.meter_id, v.version, v.tenant_id, v.environment_id, v.event_name, v.filters, v.generation,
    v.aggregation_type, v.aggregation_field, v.aggregation_expression, v.aggregation_multiplier, v.aggregation_group_by
  FROM meter_versions AS v
  WHERE v.activated_in <= catalog AND (v.retired_in IS NULL OR v.retired_in > catalog)
  ORDER BY v.meter_id, v.generation
$$;

-- Claims one backfill whose input no longer changes: every partition is finished up to the start offset of the meter
-- version. Returns the definition, its start offsets and a new generation for the attempt; no row when there is nothing
-- to do. After lease_seconds another process may try, unless progress_meter_backfill extends it.
CREATE FUNCTION claim_meter_backfill(lease_seconds double precision)
RETURNS TABLE (meter_id text, version integer, tenant_id text, environment_id text, event_name text, filters jsonb,
  aggregation_type text, aggregation_field text, aggregation_expression text, aggregation_multiplier numeric,
  aggregation_group_by text, attempts integer, generation bigint, start_offsets json)
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH ready AS (
    SELECT backfill.meter_id, backfill.version
    FROM meter_backfills AS backfill
    WHERE lease_seconds > 0 AND backfill.status <> 'completed'
      AND (backfill.claimed_until IS NULL OR backfill.claimed_until < now())
      AND NOT EXISTS (
        SELECT FROM meter_start_offsets AS start
        JOIN aggregator_checkpoints AS checkpoint USING (log, partition)
        WHERE start.meter_id = backfill.meter_id AND start.version = backfill.version
          AND checkpoint.next_offset < start.live_from)
    ORDER BY backfill.started_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE meter_backfills
    SET status = 'running', claimed_until = now() + make_interval(secs => lease_seconds),
        attempts = meter_backfills.attempts + 1, events_scanned = 0, events_matched = 0
    FROM ready
    WHERE meter_backfills.meter_id = ready.meter_id AND meter_backfills.version = ready.version
    RETURNING meter_backfills.meter_id, meter_backfills.version, meter_backfills.attempts
  )
  SELECT definition.meter_id, definition.version, definition.tenant_id, definition.environment_id,
         definition.event_name, definition.filters, definition.aggregation_type, definition.aggregation_field,
         definition.aggregation_expression, definition.aggregation_multiplier, definition.aggregation_group_by,
         claimed.attempts,
         nextval(pg_get_serial_sequence('meter_versions', 'generation')),
         (SELECT json_agg(json_build_object('log', log, 'partition', partition, 'liveFrom', live_from)
                          ORDER BY log, partition)
          FROM meter_start_offsets AS start
          WHERE start.meter_id = claimed.meter_id AND start.version = claimed.version
            AND live_from > 0)
  FROM claimed JOIN meter_versions AS definition
    ON definition.meter_id = claimed.meter_id AND definition.version = claimed.version
$$;

-- The next three change a backfill only while this attempt runs it; they return false when another has taken over, or when
-- the change was given up: the rows of this attempt will never be read.
CREATE FUNCTION progress_meter_backfill(
  meter text, definition_version integer, attempt integer, scanned bigint, matched bigint, lease_seconds double precision
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE meter_backfills
  SET claimed_until = now() + make_interval(secs => lease_seconds), events_scanned = scanned, events_matched = matched
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt
    AND lease_seconds > 0;
  RETURN FOUND;
END
$$;

CREATE FUNCTION postpone_meter_backfill(
  meter text, definition_version integer, attempt integer, reason text, pause_seconds double precision
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE meter_backfills
  SET status = 'failed', error = reason, claimed_until = now() + make_interval(secs => pause_seconds)
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt
    AND pause_seconds >= 0;
  RETURN FOUND;
END
$$;

CREATE FUNCTION release_meter_backfill(meter text, definition_version integer, attempt integer) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE meter_backfills SET claimed_until = NULL
  WHERE meter_id = meter AND version = definition_version AND status = 'running' AND attempts = attempt;
  RETURN FOUND;
END
$$;

-- It too does nothing but for the running attempt (0005).
ALTER FUNCTION complete_meter_backfill SECURITY DEFINER SET search_path = public, pg_temp;

-- It retires only versions that no reader sees (0005); the new name checks the arguments first.
ALTER FUNCTION retire_unread_meter_versions RENAME TO apply_meter_retirement;
CREATE FUNCTION retire_unread_meter_versions(unread_for interval, versions_max integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF unread_for IS NULL OR unread_for < interval '0' OR versions_max IS NULL OR versions_max < 1 THEN
    RAISE EXCEPTION 'the time must not be negative, and versions_max at least 1'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN apply_meter_retirement(unread_for, versions_max);
END
$$;

REVOKE ALL ON FUNCTION find_api_key, remove_expired_keys, list_meters_to_recount, meters_of_catalog,
  claim_meter_backfill, progress_meter_backfill, postpone_meter_backfill, release_meter_backfill,
  retire_unread_meter_versions FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_api_key, remove_expired_keys, list_meters_to_recount, meters_of_catalog,
  claim_meter_backfill, progress_meter_backfill, postpone_meter_backfill, release_meter_backfill,
  complete_meter_backfill, retire_unread_meter_versions TO minutebook_programs;
