-- Payments, credit notes, wallets and the ledger (docs/domain.md 17 to 21). Programs of the previous release may run: they know nothing
-- of these tables, record no payments, and finalize invoices without postings.

-- A movement of money: postings that add up to 0. Never changed; a reversal is another group.
CREATE TABLE ledger_groups (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  customer_id text NOT NULL,
  -- 1, 2, 3 … of a customer.
  position bigint NOT NULL CHECK (position >= 1),
  -- What happened, such as 'invoice.finalized', to which record; and which time, where it can happen to a record more than once.
  kind text NOT NULL,
  entity_type text NOT NULL,
  entity_id text NOT NULL,
  occurrence integer NOT NULL CHECK (occurrence >= 0),
  currency text NOT NULL,
  posted_at timestamptz(3) NOT NULL,
  -- Of everything in the group, and of the group before it (billing-api/domain/ledger/group-text.ts).
  hash text NOT NULL,
  FOREIGN KEY (tenant_id, environment_id, customer_id) REFERENCES customers (tenant_id, environment_id, id),
  UNIQUE (tenant_id, environment_id, customer_id, position),
  -- One group for one operation, however often it is tried.
  UNIQUE (tenant_id, environment_id, kind, entity_id, occurrence)
);
SELECT isolate_environment('ledger_groups');

CREATE TABLE ledger_postings (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  group_id text NOT NULL REFERENCES ledger_groups (id),
  position integer NOT NULL CHECK (position >= 0),
  account text NOT NULL CHECK (account IN ('receivable', 'revenue', 'tax', 'discounts', 'payments', 'refunds', 'wallet', 'wallet_funding',
    'write_off')),
  wallet_id text,
  customer_id text NOT NULL,
  -- A debit is positive.
  amount numeric NOT NULL CHECK (amount <> 0),
  currency text NOT NULL,
  entity_type text NOT NULL,
  entity_id text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  UNIQUE (group_id, position),
  CHECK ((account = 'wallet') = (wallet_id IS NOT NULL))
);
CREATE INDEX ledger_postings_newest ON ledger_postings (tenant_id, environment_id, created_at, group_id, position);
CREATE INDEX ledger_postings_of_account ON ledger_postings (tenant_id, environment_id, currency, account, created_at);
CREATE INDEX ledger_postings_of_customer ON ledger_postings (tenant_id, environment_id, customer_id, created_at, id);
CREATE INDEX ledger_postings_of_entity ON ledger_postings (tenant_id, environment_id, entity_id);
SELECT isolate_environment('ledger_postings');

-- The last group of a customer; whoever posts holds it until the end of the transaction.
CREATE TABLE ledger_heads (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  customer_id text NOT NULL,
  last_position bigint NOT NULL,
  last_hash text NOT NULL,
  PRIMARY KEY (tenant_id, environment_id, customer_id)
);
SELECT isolate_environment('ledger_heads');

CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'postings of the ledger are never changed or removed; they are reversed by others' USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER ledger_groups_are_kept BEFORE UPDATE OR DELETE ON ledger_groups
  FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_postings_are_kept BEFORE UPDATE OR DELETE ON ledger_postings
  FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change();

-- Posts groups in the order of their customers, so that two that post for the same customers never wait for each other. Each group is
-- an object with the columns of its table, `text` (what its hash is of, without its position) and `postings`.
CREATE FUNCTION post_ledger_groups(given jsonb) RETURNS void
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

CREATE TABLE payments (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  idempotency_key text,
  destination_type text NOT NULL CHECK (destination_type IN ('INVOICE', 'CUSTOMER')),
  destination_id text NOT NULL,
  customer_id text NOT NULL,
  payment_method_type text NOT NULL CHECK (payment_method_type IN ('CARD', 'ACH', 'OFFLINE', 'CREDITS', 'PAYMENT_LINK', 'UPI')),
  payment_method_id text,
  payment_gateway text,
  gateway_payment_id text,
  amount numeric NOT NULL CHECK (amount > 0),
  refunded_amount numeric NOT NULL CHECK (refunded_amount >= 0 AND refunded_amount <= amount),
  currency text NOT NULL,
  payment_status text NOT NULL CHECK (payment_status IN ('INITIATED', 'PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED',
    'REFUNDED', 'PARTIALLY_REFUNDED', 'VOIDED')),
  payment_url text,
  invoice_number text,
  error_message text,
  attempts jsonb NOT NULL,
  succeeded_at timestamptz(3),
  failed_at timestamptz(3),
  refunded_at timestamptz(3),
  voided_at timestamptz(3),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  FOREIGN KEY (tenant_id, environment_id, customer_id) REFERENCES customers (tenant_id, environment_id, id)
);
CREATE UNIQUE INDEX payments_idempotency ON payments (tenant_id, environment_id, idempotency_key);
CREATE INDEX payments_newest ON payments (tenant_id, environment_id, created_at, id);
CREATE INDEX payments_of_destination ON payments (tenant_id, environment_id, destination_id);
SELECT isolate_environment('payments');

CREATE TABLE credit_notes (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  credit_note_number text NOT NULL,
  credit_note_status text NOT NULL CHECK (credit_note_status IN ('DRAFT', 'FINALIZED', 'VOIDED')),
  credit_note_type text NOT NULL CHECK (credit_note_type IN ('ADJUSTMENT', 'REFUND')),
  refund_status text CHECK (refund_status IN ('INITIATED', 'SUCCEEDED', 'VOIDED')),
  reason text,
  memo text,
  currency text NOT NULL,
  total_amount numeric NOT NULL CHECK (total_amount > 0),
  customer_id text NOT NULL,
  invoice_id text NOT NULL,
  subscription_id text,
  idempotency_key text,
  finalized_at timestamptz(3),
  voided_at timestamptz(3),
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, invoice_id) REFERENCES invoices (tenant_id, environment_id, id)
);
CREATE UNIQUE INDEX credit_notes_number ON credit_notes (tenant_id, environment_id, credit_note_number);
CREATE UNIQUE INDEX credit_notes_idempotency ON credit_notes (tenant_id, environment_id, idempotency_key);
CREATE INDEX credit_notes_newest ON credit_notes (tenant_id, environment_id, created_at, id);
CREATE INDEX credit_notes_of_invoice ON credit_notes (tenant_id, environment_id, invoice_id);
SELECT isolate_environment('credit_notes');

CREATE TABLE credit_note_lines (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  credit_note_id text NOT NULL,
  invoice_line_item_id text NOT NULL,
  position integer NOT NULL CHECK (position >= 0),
  display_name text NOT NULL,
  amount numeric NOT NULL CHECK (amount > 0),
  currency text NOT NULL,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, credit_note_id, position),
  FOREIGN KEY (tenant_id, environment_id, credit_note_id) REFERENCES credit_notes (tenant_id, environment_id, id)
);
CREATE INDEX credit_note_lines_of_line ON credit_note_lines (tenant_id, environment_id, invoice_line_item_id);
SELECT isolate_environment('credit_note_lines');

CREATE TABLE wallets (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  customer_id text NOT NULL,
  currency text NOT NULL,
  name text,
  description text,
  wallet_type text NOT NULL CHECK (wallet_type IN ('PRE_PAID', 'POST_PAID')),
  wallet_status text NOT NULL CHECK (wallet_status IN ('active', 'frozen', 'closed')),
  credit_balance numeric NOT NULL,
  conversion_rate numeric NOT NULL CHECK (conversion_rate > 0),
  topup_conversion_rate numeric NOT NULL CHECK (topup_conversion_rate > 0),
  config jsonb NOT NULL,
  auto_topup jsonb,
  alert_settings jsonb,
  alert_state text NOT NULL,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  UNIQUE (tenant_id, environment_id, id),
  FOREIGN KEY (tenant_id, environment_id, customer_id) REFERENCES customers (tenant_id, environment_id, id)
);
-- One of a kind: what it may pay is part of its kind, since paid money goes back to a wallet that may pay everything.
CREATE UNIQUE INDEX wallets_active ON wallets (tenant_id, environment_id, customer_id, currency, wallet_type, conversion_rate,
  topup_conversion_rate, (config ->> 'allowed_price_types')) WHERE wallet_status = 'active';
CREATE INDEX wallets_of_customer ON wallets (tenant_id, environment_id, customer_id, created_at, id);
CREATE INDEX wallets_to_top_up ON wallets (tenant_id, environment_id, id)
  WHERE wallet_status = 'active' AND auto_topup ->> 'enabled' = 'true';
CREATE INDEX wallets_newest ON wallets (tenant_id, environment_id, created_at, id);
SELECT isolate_environment('wallets');

CREATE TABLE wallet_transactions (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  wallet_id text NOT NULL,
  customer_id text NOT NULL,
  type text NOT NULL CHECK (type IN ('credit', 'debit')),
  credit_amount numeric NOT NULL CHECK (credit_amount > 0),
  -- Credits × conversion rate, exact.
  amount numeric NOT NULL CHECK (amount > 0),
  credit_balance_before numeric,
  credit_balance_after numeric,
  transaction_status text NOT NULL CHECK (transaction_status IN ('pending', 'completed', 'failed')),
  transaction_reason text NOT NULL,
  reference_type text CHECK (reference_type IN ('PAYMENT', 'EXTERNAL', 'REQUEST', 'INVOICE')),
  reference_id text,
  description text,
  expiry_date timestamptz(3),
  -- What is left of a credit; 0 of a debit.
  credits_available numeric NOT NULL CHECK (credits_available >= 0 AND credits_available <= credit_amount),
  priority integer,
  currency text NOT NULL,
  conversion_rate numeric NOT NULL,
  topup_conversion_rate numeric NOT NULL,
  parent_transaction_id text,
  idempotency_key text,
  -- Which credits a debit took.
  credits_used jsonb NOT NULL,
  -- Which lines of an invoice a debit paid.
  lines_paid jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1 CHECK (version >= 1),
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  CHECK ((transaction_status = 'completed') = (credit_balance_after IS NOT NULL)),
  FOREIGN KEY (tenant_id, environment_id, wallet_id) REFERENCES wallets (tenant_id, environment_id, id)
);
CREATE UNIQUE INDEX wallet_transactions_idempotency ON wallet_transactions (tenant_id, environment_id, wallet_id, idempotency_key);
CREATE INDEX wallet_transactions_newest ON wallet_transactions (tenant_id, environment_id, created_at, id);
CREATE INDEX wallet_transactions_of_wallet ON wallet_transactions (tenant_id, environment_id, wallet_id, created_at, id);
CREATE INDEX wallet_transactions_of_reference ON wallet_transactions (tenant_id, environment_id, reference_id) WHERE reference_id IS NOT NULL;
CREATE INDEX wallet_credits_left ON wallet_transactions (tenant_id, environment_id, wallet_id)
  WHERE type = 'credit' AND transaction_status = 'completed' AND credits_available > 0;
CREATE INDEX wallet_credits_to_expire ON wallet_transactions (tenant_id, environment_id, expiry_date)
  WHERE type = 'credit' AND transaction_status = 'completed' AND credits_available > 0 AND expiry_date IS NOT NULL;
SELECT isolate_environment('wallet_transactions');

-- Whether invoice.payment.overdue was told of an invoice.
ALTER TABLE invoices ADD COLUMN overdue_at timestamptz(3);
CREATE INDEX invoices_overdue ON invoices (tenant_id, environment_id, due_date) WHERE invoice_status = 'FINALIZED' AND amount_remaining > 0 AND overdue_at IS NULL;

-- One application of a credit grant: the credits that it gives at one instant (docs/domain.md 21).
CREATE TABLE grant_applications (
  id text PRIMARY KEY,
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  credit_grant_id text NOT NULL,
  subscription_id text NOT NULL,
  -- 0, 1, 2 … of the grant.
  sequence integer NOT NULL CHECK (sequence >= 0),
  scheduled_for timestamptz(3) NOT NULL,
  application_status text NOT NULL CHECK (application_status IN ('pending', 'applied', 'failed', 'skipped', 'cancelled')),
  wallet_transaction_id text,
  metadata jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('published', 'deleted', 'archived')),
  created_at timestamptz(3) NOT NULL,
  created_by text,
  updated_at timestamptz(3) NOT NULL,
  updated_by text,
  -- At most once each, however often it is tried.
  UNIQUE (tenant_id, environment_id, credit_grant_id, sequence),
  FOREIGN KEY (credit_grant_id) REFERENCES credit_grants (id)
);
SELECT isolate_environment('grant_applications');

-- How many applications of a grant were made, when the next one is due (at its anchor when null and none was made), and whether there
-- are no more.
ALTER TABLE credit_grants
  ADD COLUMN applications_made integer NOT NULL DEFAULT 0,
  ADD COLUMN next_application_at timestamptz(3),
  ADD COLUMN has_ended boolean NOT NULL DEFAULT false;
CREATE INDEX credit_grants_to_apply ON credit_grants
  (tenant_id, environment_id, (coalesce(next_application_at, credit_grant_anchor, start_date)))
  WHERE scope = 'SUBSCRIPTION' AND NOT has_ended AND status = 'published';

-- As in 0038; also where credits are to expire or to be granted, an unpaid invoice is overdue, or a wallet is to be topped up when it
-- runs low.
CREATE OR REPLACE FUNCTION list_billing_due(at timestamptz, count_max integer) RETURNS TABLE (tenant_id text, environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT environment.tenant_id, environment.id FROM environments AS environment
  CROSS JOIN LATERAL (SELECT coalesce(find_test_clock(environment.tenant_id, environment.id), at) AS now) AS clock
  WHERE EXISTS (
      SELECT FROM subscriptions AS subscription
      WHERE subscription.tenant_id = environment.tenant_id AND subscription.environment_id = environment.id
        AND subscription.subscription_status = 'active' AND subscription.status = 'published'
        AND subscription.current_period_end <= clock.now)
    OR EXISTS (
      SELECT FROM invoices AS invoice
      WHERE invoice.tenant_id = environment.tenant_id AND invoice.environment_id = environment.id
        AND invoice.invoice_status = 'DRAFT' AND invoice.finalize_at <= clock.now)
    OR EXISTS (
      SELECT FROM credit_grants AS credit_grant
      WHERE credit_grant.tenant_id = environment.tenant_id AND credit_grant.environment_id = environment.id
        AND credit_grant.scope = 'SUBSCRIPTION' AND NOT credit_grant.has_ended AND credit_grant.status = 'published'
        AND coalesce(credit_grant.next_application_at, credit_grant.credit_grant_anchor, credit_grant.start_date) <= clock.now)
    OR EXISTS (
      SELECT FROM wallet_transactions AS credit
      WHERE credit.tenant_id = environment.tenant_id AND credit.environment_id = environment.id
        AND credit.type = 'credit' AND credit.transaction_status = 'completed' AND credit.credits_available > 0
        AND credit.expiry_date IS NOT NULL AND credit.expiry_date <= clock.now)
    OR EXISTS (
      SELECT FROM invoices AS invoice
      WHERE invoice.tenant_id = environment.tenant_id AND invoice.environment_id = environment.id
        AND invoice.invoice_status = 'FINALIZED' AND invoice.amount_remaining > 0 AND invoice.overdue_at IS NULL
        AND invoice.due_date < clock.now)
    OR EXISTS (
      SELECT FROM wallets AS wallet
      WHERE wallet.tenant_id = environment.tenant_id AND wallet.environment_id = environment.id
        AND wallet.wallet_status = 'active' AND wallet.auto_topup ->> 'enabled' = 'true')
  LIMIT count_max
$$;
