-- Credits for unused time are credit notes that name the line of the invoice which they give back, its taxes and the time
-- (docs/domain.md 23.1). Safe while programs of the release before run.
ALTER TABLE credit_notes
  -- The movement by which a wallet got what unused time had cost.
  ADD COLUMN wallet_transaction_id text;
ALTER TABLE credit_note_lines
  -- Of unused time: the line item that it was taken from; null for a note that somebody wrote.
  ADD COLUMN subscription_line_item_id text,
  ADD COLUMN net_amount numeric,
  ADD COLUMN tax_amount numeric,
  ADD COLUMN period_start timestamptz(3),
  ADD COLUMN period_end timestamptz(3);

-- What is given back of lines of invoices without a note: by a negative line of an invoice; or to a wallet, by a release that wrote no
-- notes for it.
CREATE TABLE credited_charges (
  tenant_id text NOT NULL,
  environment_id text NOT NULL,
  -- The negative line, and whether it is of the same invoice, which is then lower by it.
  credit_line_id text,
  is_own boolean NOT NULL,
  wallet_transaction_id text,
  -- The line that is given back.
  invoice_line_item_id text NOT NULL,
  subscription_line_item_id text NOT NULL,
  period_start timestamptz(3) NOT NULL,
  period_end timestamptz(3) NOT NULL,
  net_amount numeric NOT NULL CHECK (net_amount > 0),
  -- What it takes with it of the taxes of the line.
  tax_amount numeric NOT NULL CHECK (tax_amount >= 0),
  CHECK (num_nonnulls(credit_line_id, wallet_transaction_id) = 1),
  FOREIGN KEY (tenant_id, environment_id) REFERENCES environments (tenant_id, id)
);
CREATE INDEX credited_charges_of ON credited_charges (tenant_id, environment_id, invoice_line_item_id);
CREATE INDEX credited_charges_by ON credited_charges (tenant_id, environment_id, credit_line_id);
SELECT isolate_environment('credited_charges');

-- What was credited before names a line item: it is split over the charges of its time as they are now, each by what it costs for that
-- time; the greatest takes what rounding leaves. Where pauses have moved the time beyond them, the last one that began before has it.
INSERT INTO credited_charges (tenant_id, environment_id, credit_line_id, is_own, wallet_transaction_id, invoice_line_item_id,
  subscription_line_item_id, period_start, period_end, net_amount, tax_amount)
WITH RECURSIVE credits AS (
  SELECT tenant_id, environment_id, NULL AS credit_line_id, wallet_transaction_id, subscription_line_item_id AS item_id,
    period_start, period_end, amount - absorbed AS amount
  FROM line_credits WHERE absorbed < amount
  UNION ALL
  SELECT line.tenant_id, line.environment_id, line.id, NULL, line.subscription_line_item_id, line.period_start, line.period_end,
    -line.amount - coalesce(line.absorbed, 0)
  FROM invoice_line_items AS line JOIN invoices AS invoice ON invoice.id = line.invoice_id
  WHERE line.kind = 'credit' AND -line.amount > coalesce(line.absorbed, 0)
    AND (invoice.invoice_status IN ('DRAFT', 'FINALIZED') OR invoice.finalized_at IS NOT NULL)
), above AS (
  SELECT item.id, item.predecessor_id FROM subscription_line_items AS item WHERE item.id IN (SELECT item_id FROM credits)
  UNION
  SELECT item.id, item.predecessor_id FROM subscription_line_items AS item JOIN above ON above.predecessor_id = item.id
), lineage AS (
  SELECT id, id AS root_id FROM above WHERE predecessor_id IS NULL
  UNION
  SELECT item.id, lineage.root_id FROM subscription_line_items AS item JOIN lineage ON item.predecessor_id = lineage.id
), pairs AS (
  SELECT credits.*, line.id AS line_id, line.period_start AS charged_from,
    (line.amount - line.line_item_discount - line.invoice_level_discount)
      * greatest(0, extract(epoch FROM least(line.period_end, credits.period_end) - greatest(line.period_start, credits.period_start)))
      / extract(epoch FROM line.period_end - line.period_start) AS weight
  FROM credits
  JOIN lineage AS own ON own.id = credits.item_id
  JOIN lineage ON lineage.root_id = own.root_id
  JOIN invoice_line_items AS line ON line.subscription_line_item_id = lineage.id AND line.kind = 'charge'
    AND line.price_type = 'FIXED' AND line.period_end > line.period_start
    AND line.amount > line.line_item_discount + line.invoice_level_discount
  JOIN invoices AS invoice ON invoice.id = line.invoice_id
    AND (invoice.invoice_status = 'FINALIZED' OR invoice.invoice_status = 'DRAFT' AND invoice.is_manually_edited)
), placed AS (
  SELECT *, sum(weight) OVER one AS weights,
    row_number() OVER (one ORDER BY weight DESC, charged_from <= period_start DESC, charged_from DESC, line_id) AS place
  FROM pairs WINDOW one AS (PARTITION BY item_id, coalesce(credit_line_id, wallet_transaction_id))
), cut AS (
  SELECT *, CASE WHEN weights = 0 THEN 0 ELSE trunc(amount * weight / weights, scale(amount)) END AS part FROM placed
), parts AS (
  SELECT *, part + CASE WHEN place = 1 THEN amount - sum(part) OVER (PARTITION BY item_id,
    coalesce(credit_line_id, wallet_transaction_id)) ELSE 0 END AS net FROM cut
)
SELECT tenant_id, environment_id, credit_line_id, false, wallet_transaction_id, line_id, item_id, period_start, period_end, net, 0
FROM parts WHERE net > 0;
