-- Notes when a draft was finalized or skipped.
CREATE OR REPLACE FUNCTION note_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.decided_at := clock_timestamp();
  RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER note_decision BEFORE UPDATE OF invoice_status ON invoices FOR EACH ROW
  WHEN (OLD.invoice_status = 'DRAFT' AND NEW.invoice_status IN ('FINALIZED', 'SKIPPED'))
  EXECUTE FUNCTION note_decision();
