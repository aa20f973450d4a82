-- What is due of the billing run, and what should never be, of all environments, each by its own clock. `faults` has at most 20 ids of
-- each kind. Periods and series are those of the last days: what was right then stays right, since nothing is removed.
-- A renewal is late only when the run could have made it, those of children are made with their parent's, and only the
-- invoice that has to close a period stands for it: another of the same dates, as one with given lines or that of its start, does not.
CREATE OR REPLACE FUNCTION find_billing_state(at timestamptz)
RETURNS TABLE (due_renewals bigint, renewal_wait double precision, due_finalizations bigint, finalization_wait double precision,
  held_drafts bigint, held_wait double precision, late_drafts bigint, late_renewals bigint, missing_invoices bigint, number_gaps bigint,
  late_overdues bigint, future_periods bigint, faults text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH found AS MATERIALIZED (
    SELECT leftover.kind, leftover.wait,
      coalesce(leftover.invoice_id, leftover.subscription_id || ' ' || leftover.period_end) AS id
    FROM environments AS environment
    CROSS JOIN LATERAL (SELECT coalesce(find_test_clock(environment.tenant_id, environment.id), at) AS now) AS clock
    CROSS JOIN LATERAL find_leftovers(environment.tenant_id, environment.id, clock.now, interval '3 days') AS leftover
  ), late AS (
    SELECT kind, id FROM found WHERE kind IN ('renewal', 'draft', 'overdue') AND wait > interval '1 hour'
  ), gaps AS (
    SELECT counter.series AS id
    FROM number_counters AS counter
    WHERE counter.taken_at > at - interval '2 days'
      AND counter.last_number - counter.first_number + 1 - counter.passed_over <> (
        SELECT count(*) FROM invoices AS invoice
        WHERE invoice.tenant_id = counter.tenant_id AND invoice.environment_id = counter.environment_id
          AND invoice.number_series = counter.series)
  )
  SELECT
    (SELECT count(*) FROM found WHERE kind = 'renewal'),
    coalesce((SELECT extract(epoch FROM max(wait)) FROM found WHERE kind = 'renewal'), 0)::double precision,
    (SELECT count(*) FROM found WHERE kind = 'draft'),
    coalesce((SELECT extract(epoch FROM max(wait)) FROM found WHERE kind = 'draft'), 0)::double precision,
    (SELECT count(*) FROM found WHERE kind = 'held_draft'),
    coalesce((SELECT extract(epoch FROM max(wait)) FROM found WHERE kind = 'held_draft'), 0)::double precision,
    (SELECT count(*) FROM late WHERE kind = 'draft'), (SELECT count(*) FROM late WHERE kind = 'renewal'),
    (SELECT count(*) FROM found WHERE kind = 'missing_invoice'), (SELECT count(*) FROM gaps),
    (SELECT count(*) FROM late WHERE kind = 'overdue'), (SELECT count(*) FROM found WHERE kind = 'future_period'),
    ARRAY(SELECT id FROM late WHERE kind = 'draft' LIMIT 20) || ARRAY(SELECT id FROM late WHERE kind = 'renewal' LIMIT 20)
      || ARRAY(SELECT id FROM found WHERE kind = 'missing_invoice' LIMIT 20) || ARRAY(SELECT id FROM gaps LIMIT 20)
      || ARRAY(SELECT id FROM late WHERE kind = 'overdue' LIMIT 20)
      || ARRAY(SELECT id FROM found WHERE kind = 'future_period' LIMIT 20)
$$;
REVOKE ALL ON FUNCTION find_billing_state FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_billing_state TO minutebook_programs;
