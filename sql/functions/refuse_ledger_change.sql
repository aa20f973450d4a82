-- The ledger is only ever added to.
CREATE OR REPLACE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'postings of the ledger are never changed or removed; they are reversed by others' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE OR REPLACE TRIGGER ledger_anchors_are_kept BEFORE UPDATE OR DELETE ON ledger_anchors
  FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

CREATE OR REPLACE TRIGGER ledger_anchors_are_not_emptied BEFORE TRUNCATE ON ledger_anchors
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE OR REPLACE TRIGGER ledger_groups_are_kept BEFORE UPDATE OR DELETE ON ledger_groups
  FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

-- Row triggers do not see TRUNCATE.
CREATE OR REPLACE TRIGGER ledger_groups_are_not_emptied BEFORE TRUNCATE ON ledger_groups
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE OR REPLACE TRIGGER ledger_heads_are_not_emptied BEFORE TRUNCATE ON ledger_heads
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

CREATE OR REPLACE TRIGGER ledger_postings_are_kept BEFORE UPDATE OR DELETE ON ledger_postings
  FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

CREATE OR REPLACE TRIGGER ledger_postings_are_not_emptied BEFORE TRUNCATE ON ledger_postings
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
