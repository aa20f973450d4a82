import { sql, type FragmentSqlToken } from 'slonik';
import { z } from 'zod';
import { numericColumn } from '../../../sql/columns.js';
import { rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import { problemOf, type BooksProblemDto } from './books-dto.js';
import { INVOICE, CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';

/**
 * Customers whose records are compared at once, by their ids: behind one, up to and with another;
 * null for no limit. All that belongs to a record belongs to its customer.
 */
export type CustomerRange = { readonly behind: string | null; readonly upTo: string | null };

/** Whether the customer of a row is in a range. */
function isOf(alias: string, { behind, upTo }: CustomerRange): FragmentSqlToken {
  const id = sql.identifier([alias, 'customer_id']);
  return sql.fragment`(${behind === null} OR ${id} > ${behind ?? ''})
    AND (${upTo === null} OR ${id} <= ${upTo ?? ''})`;
}

const differenceRow = z.object({
  entity_type: z.string(),
  entity_id: z.string(),
  member: z.string(),
  stored: numericColumn,
  posted: numericColumn,
});

/** Sums of postings by the record and the account. */
function postedOf(range: CustomerRange): FragmentSqlToken {
  return sql.fragment`
    SELECT movement.kind, posting.entity_id, posting.customer_id, posting.wallet_id, posting.currency, posting.account,
      sum(posting.amount) AS amount
    FROM ledger_postings AS posting
    JOIN ledger_groups AS movement ON movement.id = posting.group_id AND ${rowIsOfEnvironment('movement')}
    WHERE ${isOf('posting', range)} AND ${rowIsOfEnvironment('posting')} GROUP BY 1, 2, 3, 4, 5, 6`;
}

/**
 * Records whose sums are not what their postings add up to. Postings are added up once for each
 * record and then joined, because looking them up for each record takes the square of their number.
 */
export async function findDifferences(
  { tx }: ReadUnit,
  range: CustomerRange,
): Promise<readonly BooksProblemDto[]> {
  const rows = await tx.any(sql.type(differenceRow)`
    WITH posted AS MATERIALIZED (${postedOf(range)}), compared AS (
      SELECT 'invoice' AS entity_type, invoice.id AS entity_id, 'total' AS member, invoice.total AS stored,
        coalesce(found.amount, 0) AS posted
      FROM invoices AS invoice
      LEFT JOIN (SELECT entity_id, sum(amount) AS amount FROM posted
        WHERE kind = 'invoice.finalized' AND account = 'receivable' GROUP BY entity_id) AS found ON found.entity_id = invoice.id
      WHERE invoice.finalized_at IS NOT NULL AND ${isOf('invoice', range)} AND ${rowIsOfEnvironment('invoice')}
      UNION ALL
      SELECT 'customer', open.customer_id, 'amount_remaining less overpaid_amount in ' || open.currency, open.amount,
        coalesce(found.amount, 0)
      FROM (SELECT invoice.customer_id, invoice.currency, sum(CASE WHEN ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')}
          THEN invoice.amount_due - invoice.amount_paid ELSE 0 END) AS amount
        FROM invoices AS invoice WHERE ${isOf('invoice', range)} AND ${rowIsOfEnvironment('invoice')}
        GROUP BY invoice.customer_id, invoice.currency) AS open
      LEFT JOIN (SELECT customer_id, currency, sum(amount) AS amount FROM posted
        WHERE account = 'receivable' GROUP BY customer_id, currency) AS found USING (customer_id, currency)
      UNION ALL
      SELECT 'payment', payment.id, 'amount', CASE
          WHEN payment.payment_status IN ('SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED') THEN payment.amount ELSE 0 END,
        -coalesce(found.amount, 0)
      FROM payments AS payment
      LEFT JOIN (SELECT entity_id, account, sum(amount) AS amount FROM posted
        WHERE kind IN ('payment.succeeded', 'payment.voided') GROUP BY entity_id, account) AS found
        ON found.entity_id = payment.id
          AND found.account = CASE payment.destination_type WHEN 'CUSTOMER' THEN 'wallet' ELSE 'receivable' END
      WHERE ${isOf('payment', range)} AND ${rowIsOfEnvironment('payment')}
      UNION ALL
      SELECT 'credit_note', note.id, 'total_amount', CASE WHEN ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'given')} THEN note.total_amount ELSE 0 END,
        coalesce(found.amount, 0)
      FROM credit_notes AS note
      LEFT JOIN (SELECT entity_id, sum(amount) AS amount FROM posted WHERE account IN ('refunds', 'wallet_funding') GROUP BY entity_id) AS found
        ON found.entity_id = note.id
      WHERE ${isOf('note', range)} AND ${rowIsOfEnvironment('note')}
      UNION ALL
      SELECT 'wallet', wallet.id, 'credit_balance', wallet.credit_balance * wallet.conversion_rate, -coalesce(found.amount, 0)
      FROM wallets AS wallet
      LEFT JOIN (SELECT wallet_id, sum(amount) AS amount FROM posted WHERE account = 'wallet' GROUP BY wallet_id) AS found
        ON found.wallet_id = wallet.id
      WHERE ${isOf('wallet', range)} AND ${rowIsOfEnvironment('wallet')}
      UNION ALL
      SELECT 'wallet', wallet.id, 'credits that are left', greatest(wallet.credit_balance, 0), coalesce(found.credits, 0)
      FROM wallets AS wallet
      LEFT JOIN (SELECT credit.wallet_id, sum(credit.credits_available) AS credits FROM wallet_transactions AS credit
        WHERE credit.transaction_status = 'completed' AND ${isOf('credit', range)}
          AND ${rowIsOfEnvironment('credit')} GROUP BY credit.wallet_id) AS found
        ON found.wallet_id = wallet.id
      WHERE ${isOf('wallet', range)} AND ${rowIsOfEnvironment('wallet')}
    )
    SELECT * FROM compared WHERE stored <> posted ORDER BY entity_type, entity_id LIMIT 1000`);
  return rows.map(({ entity_type: type, entity_id: id, member, stored, posted }) =>
    problemOf(type, id, `${member} is ${stored}, and its postings add up to ${posted}`),
  );
}

const orphanRow = z.object({ id: z.string(), entity_type: z.string(), entity_id: z.string() });

/** Movements whose record is not there. */
export async function findOrphans(
  { tx }: ReadUnit,
  range: CustomerRange,
): Promise<readonly BooksProblemDto[]> {
  const isThere = (entity: string, table: string): FragmentSqlToken => sql.fragment`
    WHEN ${entity} THEN EXISTS (SELECT FROM ${sql.identifier([table])} AS document
      WHERE document.id = movement.entity_id AND ${rowIsOfEnvironment('document')})`;
  const rows = await tx.any(sql.type(orphanRow)`
    SELECT movement.id, movement.entity_type, movement.entity_id FROM ledger_groups AS movement
    WHERE ${isOf('movement', range)} AND ${rowIsOfEnvironment('movement')} AND NOT CASE movement.entity_type
      ${isThere('invoice', 'invoices')} ${isThere('payment', 'payments')}
      ${isThere('credit_note', 'credit_notes')} ${isThere('wallet_transaction', 'wallet_transactions')}
      ELSE false END
    ORDER BY movement.id LIMIT 1000`);
  return rows.map(({ id, entity_type: type, entity_id: entity }) =>
    problemOf('movement', id, `its ${type} ${entity} does not exist`),
  );
}
