-- What falls due in an environment after one instant and up to another: its kind, the record, and when. Each kind has a function of its
-- own, which its process asks; its `at` is the column of its index, which may be shifted here. Who does what is due of a kind says
-- `DUE_KINDS` (billing-api/jobs/bill-environment.ts), which has the same kinds. All of them see what the caller sees, and are inlined, so
-- that a statement reads no more than it needs.
CREATE OR REPLACE FUNCTION due_items(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS TABLE (kind text, id text, at timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT 'pause_begin', id, at FROM due_pause_begin(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'pause_end', id, at FROM due_pause_end(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'renewal', id, at FROM due_renewal(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'waiting_end', id, at FROM due_waiting_end(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'grant', id, at FROM due_grant(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'draft', id, at FROM due_draft(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'credit_expiry', id, at FROM due_credit_expiry(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'overdue', id, at + interval '1 millisecond' FROM due_overdue(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'payment_retry', id, at FROM due_payment_retry(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'renewal_notice', id, at - interval '24 hours' FROM due_renewal_notice(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'phase', id, at FROM due_phase(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'cancellation', id, at FROM due_cancellation(of_tenant, of_environment, after, until)
  UNION ALL
  SELECT 'top_up', id, at FROM due_top_up(of_tenant, of_environment, after, until)
$$;
REVOKE ALL ON FUNCTION due_items FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_items TO minutebook_app;
