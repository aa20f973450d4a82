-- Invoices whose declined payment is tried again: one arm of due_items(). Index: invoices_to_retry.
CREATE OR REPLACE FUNCTION due_payment_retry(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT invoice.id, invoice.next_attempt_at
  FROM invoices AS invoice
  WHERE invoice.tenant_id = of_tenant AND invoice.environment_id = of_environment
    AND invoice.invoice_status = 'FINALIZED' AND invoice.payment_status = 'FAILED'
    AND invoice.next_attempt_at > after AND invoice.next_attempt_at <= until
$$;
REVOKE ALL ON FUNCTION due_payment_retry FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_payment_retry TO minutebook_app;
