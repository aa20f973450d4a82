-- What the ledger was at an instant, signed with a key that is not in the database (docs/operations.md 1.8). Programs of the previous
-- release may run: they know nothing of anchors.
CREATE TABLE ledger_anchors (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  -- 1, 2, 3 … of an environment.
  number bigint NOT NULL CHECK (number >= 1),
  anchored_at timestamptz(3) NOT NULL,
  customers bigint NOT NULL CHECK (customers >= 0),
  movements bigint NOT NULL CHECK (movements >= 0),
  -- SHA-256 of the list of all heads, as it is written to a store (billing-api/domain/ledger/anchor-text.ts).
  root text NOT NULL,
  -- The signature of the anchor before; empty for the first.
  previous text NOT NULL,
  public_key text NOT NULL,
  signature text NOT NULL,
  PRIMARY KEY (tenant_id, environment_id, number),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
SELECT isolate_environment('ledger_anchors');
REVOKE UPDATE, DELETE ON ledger_anchors FROM minutebook_app;

-- The heads of the last anchor: the last movement that each customer had then.
CREATE TABLE ledger_anchored_heads (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  -- The list of heads stands in this order on every server.
  customer_id text COLLATE "C" NOT NULL,
  position bigint NOT NULL CHECK (position >= 1),
  hash text NOT NULL,
  PRIMARY KEY (tenant_id, environment_id, customer_id)
);
SELECT isolate_environment('ledger_anchored_heads');
REVOKE DELETE ON ledger_anchored_heads FROM minutebook_app;

CREATE TRIGGER ledger_anchors_are_kept BEFORE UPDATE OR DELETE ON ledger_anchors
  FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

-- Row triggers do not see TRUNCATE.
CREATE TRIGGER ledger_groups_are_not_emptied BEFORE TRUNCATE ON ledger_groups
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_postings_are_not_emptied BEFORE TRUNCATE ON ledger_postings
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_heads_are_not_emptied BEFORE TRUNCATE ON ledger_heads
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_anchors_are_not_emptied BEFORE TRUNCATE ON ledger_anchors
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();

-- A head only moves on.
CREATE FUNCTION keep_ledger_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.last_position = OLD.last_position + 1 AND NEW.customer_id = OLD.customer_id THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the head of a ledger moves on by one movement, and is never removed' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER ledger_heads_move_on BEFORE UPDATE OR DELETE ON ledger_heads
  FOR EACH ROW EXECUTE FUNCTION keep_ledger_head();

-- The environments that have movements, for the job that anchors them (docs/architecture.md, D-014).
CREATE FUNCTION list_ledgers(count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT environment.tenant_id, environment.id FROM environments AS environment
  WHERE EXISTS (SELECT FROM ledger_heads AS head
    WHERE head.tenant_id = environment.tenant_id AND head.environment_id = environment.id)
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_ledgers FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_ledgers TO minutebook_programs;
