-- Credits (wallet transactions) that expire: one arm of due_items(). Index: wallet_credits_to_expire.
CREATE OR REPLACE FUNCTION due_credit_expiry(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT credit.id, credit.expiry_date
  FROM wallet_transactions AS credit
  WHERE credit.tenant_id = of_tenant AND credit.environment_id = of_environment
    AND credit.type = 'credit' AND credit.transaction_status = 'completed' AND credit.credits_available > 0
    AND credit.expiry_date > after AND credit.expiry_date <= until
$$;
REVOKE ALL ON FUNCTION due_credit_expiry FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_credit_expiry TO minutebook_app;
