-- Keeps who reads the trail by commit from passing over an entry that is being written.
CREATE OR REPLACE FUNCTION hold_audit_trail() RETURNS trigger
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(audit_trail_lock());
  RETURN NULL;
END
$$;

-- Before the statement, because its rows take their numbers after that.
CREATE OR REPLACE TRIGGER audit_trail_is_held BEFORE INSERT ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION hold_audit_trail();
