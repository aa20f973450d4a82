-- Unpaid invoices whose due date has passed, and of which that was not told, a millisecond after `at`: one arm of due_items(). Index: invoices_overdue.
CREATE OR REPLACE FUNCTION due_overdue(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT invoice.id, invoice.due_date
  FROM invoices AS invoice
  WHERE invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment
    AND invoice.invoice_status = 'FINALIZED' AND invoice.amount_remaining > 0 AND invoice.overdue_at IS NULL
    AND invoice.due_date >= after AND invoice.due_date < until
$$;
REVOKE ALL ON FUNCTION due_overdue FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_overdue TO minutebook_app;
