-- Pauses that end: one arm of due_items(). Index: subscription_pauses_live.
CREATE OR REPLACE FUNCTION due_pause_end(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT pause.id, pause.ends_at
  FROM subscription_pauses AS pause
  WHERE pause.tenant_id = of_tenant AND pause.environment_id = of_environment
    AND pause.pause_status = 'active' AND pause.ends_at > after AND pause.ends_at <= until
$$;
REVOKE ALL ON FUNCTION due_pause_end FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_pause_end TO minutebook_app;
