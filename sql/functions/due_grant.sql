-- Credit grants that are applied: one arm of due_items(). Index: credit_grants_to_apply.
CREATE OR REPLACE FUNCTION due_grant(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT credit_grant.id,
    coalesce(credit_grant.next_application_at, credit_grant.credit_grant_anchor, credit_grant.start_date)
  FROM credit_grants AS credit_grant
  WHERE credit_grant.tenant_id = of_tenant AND credit_grant.environment_id = of_environment
    AND credit_grant.scope = 'SUBSCRIPTION' AND NOT credit_grant.has_ended AND credit_grant.status = 'published'
    AND coalesce(credit_grant.next_application_at, credit_grant.credit_grant_anchor, credit_grant.start_date) > after
    AND coalesce(credit_grant.next_application_at, credit_grant.credit_grant_anchor, credit_grant.start_date) <= until
$$;
REVOKE ALL ON FUNCTION due_grant FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_grant TO minutebook_app;
