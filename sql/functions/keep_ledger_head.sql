-- A head only moves on.
CREATE OR REPLACE FUNCTION keep_ledger_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.last_position = OLD.last_position + 1 AND NEW.customer_id = OLD.customer_id THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'the head of a ledger moves on by one movement, and is never removed' USING ERRCODE = 'restrict_violation';
END
$$;

CREATE OR REPLACE TRIGGER ledger_heads_move_on BEFORE UPDATE OR DELETE ON ledger_heads
  FOR EACH ROW EXECUTE FUNCTION keep_ledger_head();
