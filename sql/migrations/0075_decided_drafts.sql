-- When a draft was finalized or skipped, by the clock of this database: callers who asked while it was done are answered with what came
-- of it (docs/http.md 6). Null in rows of earlier releases, and of invoices that never were a draft by themselves.
ALTER TABLE invoices ADD COLUMN decided_at timestamptz;

CREATE FUNCTION note_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.decided_at := clock_timestamp();
  RETURN NEW;
END
$$;
CREATE TRIGGER note_decision BEFORE UPDATE OF invoice_status ON invoices FOR EACH ROW
  WHEN (OLD.invoice_status = 'DRAFT' AND NEW.invoice_status IN ('FINALIZED', 'SKIPPED'))
  EXECUTE FUNCTION note_decision();
