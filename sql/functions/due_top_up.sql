-- Wallets that may be topped up: always, or when the pause after the last top-up is over: one arm of due_items(). Index: wallets_to_top_up.
CREATE OR REPLACE FUNCTION due_top_up(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT wallet.id, pause.ends_at
  FROM wallets AS wallet
  CROSS JOIN LATERAL (
    SELECT coalesce(CASE WHEN wallet.auto_topup ? 'cooldown' THEN (
        SELECT max(credit.created_at) FROM wallet_transactions AS credit
        WHERE credit.tenant_id = of_tenant AND credit.environment_id = of_environment
          AND credit.wallet_id = wallet.id AND credit.type = 'credit' AND credit.metadata ? 'auto_topup')
      + make_interval(secs => (wallet.auto_topup #>> '{cooldown,value}')::integer * CASE wallet.auto_topup #>> '{cooldown,unit}'
          WHEN 'second' THEN 1 WHEN 'minute' THEN 60 WHEN 'hour' THEN 3600 ELSE 86400 END) END,
      'epoch'::timestamptz) AS ends_at OFFSET 0) AS pause
  WHERE wallet.tenant_id = of_tenant AND wallet.environment_id = of_environment
    AND wallet.wallet_status = 'active' AND wallet.auto_topup ->> 'enabled' = 'true'
    AND pause.ends_at > after AND pause.ends_at <= until
$$;
REVOKE ALL ON FUNCTION due_top_up FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_top_up TO minutebook_app;
