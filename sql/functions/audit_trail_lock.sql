-- Exports go by the order in which changes were committed (docs/domain.md 33.7). Who writes entries of the audit trail holds a shared
-- lock of the environment until its end, and an export asks for that lock alone before it reads the last number: then every entry up to
-- this number is committed, and each later one has a greater number. A trigger, so that programs of the previous release hold it too.
CREATE OR REPLACE FUNCTION audit_trail_lock() RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT hashtextextended('minutebook:audit-trail:' || coalesce(current_setting('minutebook.tenant_id', true), '')
    || ':' || coalesce(current_setting('minutebook.environment_id', true), ''), 0)
$$;
