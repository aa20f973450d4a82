-- Posts groups in the order of their customers, so that two that post for the same customers never wait for each other. Each group is
-- an object with the columns of its table, `text` (what its hash is of, without its position) and `postings`.
CREATE OR REPLACE FUNCTION post_ledger_groups(given jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  one record;
  head ledger_heads;
  tenant text := current_setting('minutebook.tenant_id');
  environment text := current_setting('minutebook.environment_id');
  new_hash text;
BEGIN
  FOR one IN
    SELECT item.value AS value, item.value ->> 'customer_id' AS customer_id
    FROM jsonb_array_elements(given) WITH ORDINALITY AS item (value, place) ORDER BY item.value ->> 'customer_id', item.place
  LOOP
    IF (SELECT coalesce(sum((posting ->> 'amount')::numeric), 0) FROM jsonb_array_elements(one.value -> 'postings') AS posting) <> 0 THEN
      RAISE EXCEPTION 'the postings of % % do not add up to 0', one.value ->> 'kind', one.value ->> 'entity_id'
        USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO ledger_heads VALUES (tenant, environment, one.customer_id, 0, '') ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT head FROM ledger_heads
    WHERE tenant_id = tenant AND environment_id = environment AND customer_id = one.customer_id FOR UPDATE;
    new_hash := encode(sha256(convert_to(
      head.last_hash || E'\n' || (head.last_position + 1)::text || E'\n' || (one.value ->> 'text'), 'UTF8')), 'hex');
    INSERT INTO ledger_groups
    SELECT row.id, tenant, environment, row.customer_id, head.last_position + 1, row.kind, row.entity_type, row.entity_id,
      row.occurrence, row.currency, row.posted_at, new_hash
    FROM jsonb_populate_record(NULL::ledger_groups, one.value) AS row;
    INSERT INTO ledger_postings
    SELECT posting.id, tenant, environment, one.value ->> 'id', posting.position, posting.account, posting.wallet_id, one.customer_id,
      posting.amount, one.value ->> 'currency', one.value ->> 'entity_type', one.value ->> 'entity_id',
      (one.value ->> 'posted_at')::timestamptz
    FROM jsonb_populate_recordset(NULL::ledger_postings, one.value -> 'postings') AS posting;
    UPDATE ledger_heads SET last_position = head.last_position + 1, last_hash = new_hash
    WHERE tenant_id = tenant AND environment_id = environment AND customer_id = one.customer_id;
  END LOOP;
END
$$;
