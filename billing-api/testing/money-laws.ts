import { sql } from 'slonik';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { Database } from '../../sql/pool.js';

const problemRow = z.object({ id: z.string() });

/** Rows that break a law of money, each law by its name. */
const LAWS = {
  'what is left to pay follows from what is due and paid': sql.fragment`
    SELECT id FROM invoices WHERE amount_due <> total - adjustment_amount
      OR amount_remaining <> greatest(0, amount_due - amount_paid)
      OR overpaid_amount <> greatest(0, amount_paid - amount_due)`,
  'no more is given back than was paid': sql.fragment`
    SELECT id FROM invoices WHERE refunded_amount > amount_paid`,
  'no more is adjusted than was open': sql.fragment`
    SELECT id FROM invoices WHERE adjustment_amount > total`,
  'notes that lower what is to be paid have lowered it by what they say': sql.fragment`
    SELECT id FROM invoices WHERE adjustment_amount <> coalesce((
      SELECT sum(total_amount) FROM credit_notes WHERE invoice_id = invoices.id
        AND credit_note_type = 'ADJUSTMENT' AND credit_note_status = 'FINALIZED'), 0)`,
  'notes that give money back are among what was given back': sql.fragment`
    SELECT id FROM invoices WHERE refunded_amount < coalesce((
      SELECT sum(total_amount) FROM credit_notes WHERE invoice_id = invoices.id
        AND credit_note_type = 'REFUND' AND wallet_transaction_id IS NULL AND credit_note_status = 'FINALIZED'), 0)`,
  // What an invoice sets off of another one is paid by that, and can come back, too.
  'no notes of an invoice are above what its lines and their taxes cost': sql.fragment`
    SELECT id FROM invoices WHERE subtotal - total_discount + total_tax + coalesce((
      SELECT sum(of_line.tax - line.amount) FROM invoice_line_items AS line JOIN LATERAL (
        SELECT sum(tax_amount) AS tax, bool_or(is_own) AS is_own FROM credited_charges
        WHERE credit_line_id = line.id) AS of_line ON NOT of_line.is_own
      WHERE line.invoice_id = invoices.id AND line.kind = 'credit'), 0) < coalesce((
      SELECT sum(total_amount) FROM credit_notes
      WHERE invoice_id = invoices.id AND credit_note_status <> 'VOIDED'), 0)`,
  // Rounded up; the last line may take what the others have left, less than a unit of each.
  'no notes of a line are above what it costs with its tax': sql.fragment`
    SELECT line.id FROM invoice_line_items AS line JOIN invoices AS invoice ON invoice.id = line.invoice_id
    WHERE line.kind <> 'credit' AND (line.amount - line.line_item_discount - line.invoice_level_discount)
        * (1 + invoice.total_tax / greatest(invoice.subtotal - invoice.total_discount, 0.000001))
        + 3 * CASE invoice.currency WHEN 'usd' THEN 0.01 WHEN 'jpy' THEN 1 ELSE 0.001 END < coalesce((
      SELECT sum(noted.amount) FROM credit_note_lines AS noted
      JOIN credit_notes AS note ON note.id = noted.credit_note_id
      WHERE noted.invoice_line_item_id = line.id AND note.credit_note_status <> 'VOIDED'), 0)`,
  'what a customer owes by the ledger is what their invoices leave to be paid': sql.fragment`
    SELECT customer.id FROM customers AS customer CROSS JOIN unnest(ARRAY['usd', 'jpy', 'kwd']) AS of_currency
    WHERE coalesce((SELECT sum(amount) FROM ledger_postings
        WHERE customer_id = customer.id AND account = 'receivable' AND currency = of_currency), 0)
      <> coalesce((SELECT sum(amount_due - amount_paid) FROM invoices
        WHERE customer_id = customer.id AND currency = of_currency AND invoice_status = 'FINALIZED'), 0)`,
  'a page is open of an invoice that leaves less to be paid': sql.fragment`
    SELECT payment.id FROM payments AS payment JOIN invoices AS invoice ON invoice.id = payment.destination_id
    WHERE payment.payment_url IS NOT NULL
      AND (payment.amount > invoice.amount_remaining OR invoice.invoice_status <> 'FINALIZED')`,
  'no wallet is below 0 but for money that has gone back': sql.fragment`
    SELECT id FROM wallets WHERE credit_balance < 0 AND NOT EXISTS (
      SELECT FROM wallet_transactions AS debit WHERE debit.wallet_id = wallets.id
        AND debit.transaction_reason = 'MANUAL_BALANCE_DEBIT'
        AND debit.reference_type IN ('PAYMENT', 'INVOICE'))`,
  'a closed wallet is empty': sql.fragment`
    SELECT id FROM wallets WHERE wallet_status = 'closed' AND credit_balance <> 0`,
  'what is paid of an invoice and not refunded is what its payments have left, and what a wallet gave for it': sql.fragment`
    SELECT invoice.id FROM invoices AS invoice
    WHERE amount_paid - refunded_amount + coalesce((
      SELECT sum(total_amount) FROM credit_notes WHERE invoice_id = invoice.id
        AND credit_note_type = 'REFUND' AND wallet_transaction_id IS NULL AND credit_note_status = 'FINALIZED'), 0) <> coalesce((
      SELECT sum(amount - refunded_amount + coalesce((
        SELECT sum(debit.amount) FROM wallet_transactions AS debit WHERE debit.reference_id = payments.id
          AND debit.transaction_reason = 'MANUAL_BALANCE_DEBIT'), 0)) FROM payments
      WHERE destination_id = invoice.id
        AND payment_status IN ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED')), 0)`,
  'sold credits are not taken back beyond what arrived of them': sql.fragment`
    SELECT credit.id FROM wallet_transactions AS credit WHERE type = 'credit' AND amount < coalesce((
      SELECT sum(debit.amount) FROM wallet_transactions AS debit
      WHERE debit.parent_transaction_id = credit.id AND debit.type = 'debit'), 0)`,
  'the movements of a wallet, replayed from 0, give its balance': sql.fragment`
    SELECT wallet.id FROM wallets AS wallet WHERE credit_balance <> coalesce((
      SELECT sum(CASE type WHEN 'credit' THEN credit_amount ELSE -credit_amount END)
      FROM wallet_transactions WHERE wallet_id = wallet.id AND transaction_status = 'completed'), 0)`,
  'each movement of a wallet begins where the one before has ended': sql.fragment`
    SELECT id FROM (
      SELECT id, credit_balance_after - credit_balance_before AS moved,
        CASE type WHEN 'credit' THEN credit_amount ELSE -credit_amount END AS own
      FROM wallet_transactions WHERE transaction_status = 'completed') AS movement
    WHERE moved <> own`,
  'a debit takes as many credits as it says': sql.fragment`
    SELECT id FROM wallet_transactions AS debit
    WHERE type = 'debit' AND credit_amount + least(credit_balance_after, 0)
        - least(credit_balance_before, 0) <> (
      SELECT coalesce(sum((used ->> 'credits')::numeric), 0)
      FROM jsonb_array_elements(credits_used) AS used)`,
  'every movement of credits has one movement of money': sql.fragment`
    SELECT id FROM wallet_transactions AS movement
    WHERE transaction_status = 'completed' AND amount <> coalesce((
      SELECT abs(sum(posting.amount)) FROM ledger_postings AS posting
      WHERE posting.account = 'wallet' AND posting.wallet_id = movement.wallet_id
        AND posting.entity_id = movement.id), amount)`,
} as const;

/** Each law of money that rows of a database break, with the ids of those rows. */
export async function brokenLaws(
  database: Database,
): Promise<readonly { readonly law: string; readonly ids: readonly string[] }[]> {
  const broken = [];
  for (const [law, rows] of Object.entries(LAWS)) {
    const found = await ownerOf(database).any(sql.type(problemRow)`${rows}`);
    if (found.length > 0) broken.push({ law, ids: found.map(({ id }) => id) });
  }
  return broken;
}
