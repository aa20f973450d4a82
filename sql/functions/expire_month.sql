-- Lets a month of append expire, in which these environments have events: [{"tenant", "environment"}]. False, and nothing is changed, while a meter is being applied to stored events: that meter
-- shall have them. The lock on the counter, which every change of a meter takes, decides which of the two came first.
CREATE OR REPLACE FUNCTION expire_month(month date, environments jsonb) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
  IF month IS NULL OR extract(day FROM month) <> 1 OR month > now() - interval '2 months' THEN
    RAISE EXCEPTION 'a month must be given by its first day, and be over for a month'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  PERFORM 1 FROM catalog_counter FOR UPDATE;
  IF is_backfill_pending() THEN
    RETURN false;
  END IF;
  INSERT INTO expired_months (append_month) VALUES (month) ON CONFLICT DO NOTHING;
  INSERT INTO expired_month_environments (tenant_id, environment_id, append_month)
  SELECT one ->> 'tenant', one ->> 'environment', month FROM jsonb_array_elements(environments) AS one
  ON CONFLICT DO NOTHING;
  RETURN true;
END
$$;
REVOKE ALL ON FUNCTION expire_month FROM PUBLIC;
GRANT EXECUTE ON FUNCTION expire_month TO minutebook_programs;
