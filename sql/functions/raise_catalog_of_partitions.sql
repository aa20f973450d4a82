-- From now on no batch starts with an older catalog. Therefore coalesce(intent_end, next_offset) is exactly where older
-- catalogs stop to apply: any other start offset loses or doubles events (docs/internals/protocol-model: meter.*).
CREATE OR REPLACE FUNCTION raise_catalog_of_partitions(catalog bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM aggregator_checkpoints ORDER BY log, partition FOR UPDATE;
  UPDATE aggregator_checkpoints SET min_version = catalog;
END
$$;
REVOKE ALL ON FUNCTION raise_catalog_of_partitions FROM PUBLIC;
