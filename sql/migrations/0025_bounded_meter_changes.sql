-- A change of a meter writes to the checkpoints of all partitions. A backup and a migration that copies rows hold them for as
-- long as they take, and a call that waited for them would keep one of the few connections of billing-api until its time-out.
-- After five seconds it now ends as an outage that a retry overcomes (55P03).
DO $$
DECLARE
  change regprocedure;
BEGIN
  FOR change IN
    SELECT oid::regprocedure FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
      AND proname IN ('activate_meter_version', 'revert_meter_version', 'end_meter')
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET lock_timeout = ''5s''', change);
  END LOOP;
END
$$;
