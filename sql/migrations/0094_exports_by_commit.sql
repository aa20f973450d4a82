-- Exports go by the order in which changes were committed (docs/domain.md 33.7). Who writes entries of the audit trail holds a shared
-- lock of the environment until its end, and an export asks for that lock alone before it reads the last number: then every entry up to
-- this number is committed, and each later one has a greater number. A trigger, so that programs of the previous release hold it too.
CREATE FUNCTION audit_trail_lock() RETURNS bigint
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT hashtextextended('minutebook:audit-trail:' || coalesce(current_setting('minutebook.tenant_id', true), '')
    || ':' || coalesce(current_setting('minutebook.environment_id', true), ''), 0)
$$;

CREATE FUNCTION hold_audit_trail() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(audit_trail_lock());
  RETURN NULL;
END
$$;
-- Before the statement, because its rows take their numbers after that.
CREATE TRIGGER audit_trail_is_held BEFORE INSERT ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION hold_audit_trail();

-- What was committed behind a number.
CREATE INDEX audit_entries_numbered ON audit_entries (tenant_id, environment_id, entity_type, entry_number);
