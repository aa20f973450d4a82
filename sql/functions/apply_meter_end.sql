-- Stops the counting of a meter for good, inside the transaction that archives it, at exact offsets, which readers of events
-- respect. A backfill that is running goes on to its end, so that the meter keeps all earlier events.
CREATE OR REPLACE FUNCTION apply_meter_end(meter text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  catalog bigint := next_catalog_version();
BEGIN
  UPDATE meter_versions SET retired_in = catalog WHERE meter_id = meter AND retired_in IS NULL;
  PERFORM raise_catalog_of_partitions(catalog);
  INSERT INTO meter_ends (meter_id, log, partition, counted_below)
  SELECT meter, log, partition, coalesce(intent_end, next_offset) FROM aggregator_checkpoints;
END
$$;
REVOKE ALL ON FUNCTION apply_meter_end FROM PUBLIC;
