-- Drafts of invoices whose delay is over: one arm of due_items(). Index: invoices_to_finalize.
CREATE OR REPLACE FUNCTION due_draft(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT invoice.id, invoice.finalize_at
  FROM invoices AS invoice
  WHERE invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment
    AND invoice.invoice_status = 'DRAFT' AND invoice.finalize_at > after AND invoice.finalize_at <= until
$$;
REVOKE ALL ON FUNCTION due_draft FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_draft TO minutebook_app;
