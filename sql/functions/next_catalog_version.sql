-- The next catalog version. The lock on the counter makes the order of commits the order of the numbers.
-- It waits while the catalog is held: two seconds at most, however often the hold is renewed. Nothing depends on
-- the wait but how soon a batch is written, since an intent with an older catalog is still refused.
CREATE OR REPLACE FUNCTION next_catalog_version() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  catalog bigint;
  remaining interval;
  patient_until timestamptz := clock_timestamp() + interval '2 s';
BEGIN
  LOOP
    SELECT held_until - clock_timestamp() INTO remaining FROM catalog_counter;
    EXIT WHEN remaining IS NULL OR remaining <= interval '0' OR clock_timestamp() >= patient_until;
    PERFORM pg_sleep_for(least(remaining, interval '50 ms'));
  END LOOP;
  UPDATE catalog_counter SET version = version + 1 RETURNING version INTO catalog;
  INSERT INTO catalog_versions (version) VALUES (catalog);
  RETURN catalog;
END
$$;
REVOKE ALL ON FUNCTION next_catalog_version FROM PUBLIC;
