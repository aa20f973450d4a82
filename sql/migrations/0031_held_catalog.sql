-- Meters that are made without a pause would refuse the intent of a batch again and again, since each makes the catalog with which
-- it was folded an older one. An aggregator whose intent was refused twice now holds the catalog for half a second, in which it
-- folds what is new and intends. Programs of the previous release may run: they wait as well, and hold nothing.

-- Until then nobody begins a change of meters. No lock remains, so that a process that dies holds up nobody.
ALTER TABLE catalog_counter ADD COLUMN held_until timestamptz;

-- As in 0005, but it waits while the catalog is held: two seconds at most, however often the hold is renewed. Nothing depends on
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
