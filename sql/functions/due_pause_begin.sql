-- Pauses that begin: one arm of due_items(). Index: subscription_pauses_live.
CREATE OR REPLACE FUNCTION due_pause_begin(of_tenant text, of_environment text, after timestamptz, until timestamptz)
RETURNS SETOF due_record
LANGUAGE sql STABLE AS $$
  SELECT pause.id, pause.pause_start
  FROM subscription_pauses AS pause
  WHERE pause.tenant_id = of_tenant AND pause.environment_id = of_environment
    AND pause.pause_status = 'scheduled' AND pause.pause_start > after AND pause.pause_start <= until
$$;
REVOKE ALL ON FUNCTION due_pause_begin FROM PUBLIC;
GRANT EXECUTE ON FUNCTION due_pause_begin TO minutebook_app;
