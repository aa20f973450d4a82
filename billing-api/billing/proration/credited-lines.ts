import { sql } from 'slonik';
import { z } from 'zod';
import { addAt, decimalOf, maxOf, plain, ZERO, type Decimal } from '../../../contract/decimal.js';
import { instantColumn, noRows, numericColumn } from '../../../sql/columns.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  shareCredits,
  type Credited,
  type CreditShare,
} from '../../domain/proration/share-credits.js';
import { notedWithoutTaxes } from '../../domain/proration/unused-charge.js';
import { rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

const creditedRow = z.object({
  /** The invoice line that was charged; null for a credit. */
  line_id: z.string().nullable(),
  invoice_id: z.string().nullable(),
  /** Of a credit: the movement of a wallet with its line item, or the line of an invoice. */
  credit_id: z.string().nullable(),
  line_item_id: z.string(),
  root_id: z.string(),
  period_start: instantColumn,
  period_end: instantColumn,
  amount: numericColumn.transform(decimalOf),
  /** What credit notes that are not voided take of it, with taxes. */
  noted: numericColumn.transform(decimalOf),
  tax: numericColumn.transform(decimalOf),
  /** What all lines of its invoice cost together, after discounts. */
  taxed: numericColumn.transform(decimalOf),
  /** What was given back of its invoice by notes and refunds, with taxes. */
  refunded: numericColumn.transform(decimalOf),
});

type CreditedRow = z.output<typeof creditedRow>;

/** A credit for unused time that still counts, and where it is kept. */
type KeptCredit = Credited & { readonly id: string; readonly lineItemId: string };

/** The charges of the line items of an invoice and of their lineages, and the credits for them. */
function findCharged({ tx }: StatementUnit, id: string): Promise<readonly CreditedRow[]> {
  return tx.any(sql.type(creditedRow)`
    WITH RECURSIVE above AS (
      SELECT item.id, item.predecessor_id FROM subscription_line_items AS item
      JOIN invoice_line_items AS line ON line.subscription_line_item_id = item.id
        AND line.invoice_id = ${id} AND line.kind = 'charge' AND ${rowIsOfEnvironment('line')}
      WHERE ${rowIsOfEnvironment('item')}
      UNION
      SELECT item.id, item.predecessor_id FROM subscription_line_items AS item
      JOIN above ON above.predecessor_id = item.id
      WHERE ${rowIsOfEnvironment('item')}
    ), lineage AS (
      SELECT id, id AS root_id FROM above WHERE predecessor_id IS NULL
      UNION
      SELECT item.id, lineage.root_id FROM subscription_line_items AS item
      JOIN lineage ON item.predecessor_id = lineage.id
      WHERE ${rowIsOfEnvironment('item')}
    )
    SELECT line.id AS line_id, line.invoice_id, NULL AS credit_id, lineage.id AS line_item_id,
      lineage.root_id, line.period_start, line.period_end,
      line.amount - line.line_item_discount - line.invoice_level_discount AS amount,
      (SELECT coalesce(sum(noted.amount), 0) FROM credit_note_lines AS noted
        JOIN credit_notes AS note ON note.id = noted.credit_note_id AND ${rowIsOfEnvironment('note')}
        WHERE noted.invoice_line_item_id = line.id AND note.credit_note_status <> 'VOIDED'
          AND ${rowIsOfEnvironment('noted')}) AS noted,
      invoice.total_tax AS tax,
      (SELECT sum(greatest(0, each.amount - each.line_item_discount - each.invoice_level_discount))
        FROM invoice_line_items AS each
        WHERE each.invoice_id = line.invoice_id AND ${rowIsOfEnvironment('each')}) AS taxed,
      greatest(0, invoice.refunded_amount - invoice.overpaid_amount) AS refunded
    FROM lineage JOIN invoice_line_items AS line ON line.subscription_line_item_id = lineage.id
      AND line.kind = 'charge' AND line.price_type = 'FIXED' AND line.period_end > line.period_start
      AND ${rowIsOfEnvironment('line')}
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    WHERE ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')}
      OR (invoice.invoice_status = 'DRAFT' AND invoice.is_manually_edited)
    UNION ALL
    SELECT NULL, NULL, credit.wallet_transaction_id, lineage.id, lineage.root_id,
      credit.period_start, credit.period_end, credit.amount - credit.absorbed, 0, 0, 0, 0
    FROM lineage JOIN line_credits AS credit ON credit.subscription_line_item_id = lineage.id
      AND credit.absorbed < credit.amount AND ${rowIsOfEnvironment('credit')}
    UNION ALL
    SELECT NULL, NULL, line.id, lineage.id, lineage.root_id, line.period_start, line.period_end,
      -line.amount - coalesce(line.absorbed, 0), 0, 0, 0, 0
    FROM lineage JOIN invoice_line_items AS line ON line.subscription_line_item_id = lineage.id
      AND line.kind = 'credit' AND coalesce(line.absorbed, 0) < -line.amount AND ${rowIsOfEnvironment('line')}
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    -- What a voided invoice had set off went to a wallet.
    WHERE ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'counted')}
      OR (invoice.invoice_status = 'VOIDED' AND invoice.finalized_at IS NOT NULL)
    ORDER BY root_id, period_start, line_id, credit_id, line_item_id`);
}

/**
 * What notes have given back of a charge; or what of it cannot be given back any more, because
 * refunds, which name no line, have left less of its invoice. Without taxes.
 */
function givenBackOf(
  { amount, noted, refunded, ...row }: Omit<CreditedRow, 'line_item_id'>,
  currency: string,
): Decimal {
  const left = maxOf(ZERO, row.taxed.minus(notedWithoutTaxes(refunded, row, currency)));
  return maxOf(notedWithoutTaxes(noted, row, currency), amount.minus(left));
}

/**
 * What credits for unused time have given back of the lines of an invoice. A credit of a line item
 * counts against all charges of it and of what it continues, on whatever invoice
 * (docs/domain.md 23.1), less what voided invoices have absorbed of it.
 */
export async function findCreditShares(
  unit: StatementUnit,
  { id, currency }: Pick<InvoiceRow, 'id' | 'currency'>,
): Promise<readonly CreditShare<KeptCredit>[]> {
  const rows = await findCharged(unit, id);
  const figures = rows.map(({ line_item_id: lineItemId, ...row }) => ({
    ...{ lineId: row.line_id, invoiceId: row.invoice_id, id: row.credit_id, lineItemId },
    ownerId: row.root_id,
    period: { startMs: row.period_start, endMs: row.period_end },
    amount: maxOf(ZERO, row.amount),
    noted: givenBackOf(row, currency),
  }));
  const charges = figures.flatMap(({ lineId, ...one }) =>
    lineId === null ? [] : [{ ...one, lineId }],
  );
  const credits = figures.flatMap(({ id: creditId, ...one }) =>
    creditId === null ? [] : [{ ...one, id: creditId }],
  );
  const own = new Set(charges.filter((one) => one.invoiceId === id).map(({ lineId }) => lineId));
  return shareCredits(charges, credits, currency).filter(({ lineId }) => own.has(lineId));
}

/** The same in all, by the ids of the lines; lines without a credit are left out. */
export async function findCreditedLines(
  unit: StatementUnit,
  invoice: Pick<InvoiceRow, 'id' | 'currency'>,
): Promise<ReadonlyMap<string, Decimal>> {
  const credited = new Map<string, Decimal>();
  for (const { lineId, amount } of await findCreditShares(unit, invoice)) {
    addAt(credited, lineId, amount);
  }
  return credited;
}

/**
 * Notes that credits were taken off again with an invoice that is voided, so that they do not count
 * against what replaces it (docs/domain.md 18).
 */
export async function absorbCredits(
  { tx }: Unit,
  shares: readonly CreditShare<KeptCredit>[],
): Promise<void> {
  if (shares.length === 0) return;
  const sums = new Map<KeptCredit, Decimal>();
  for (const { credit, amount } of shares) addAt(sums, credit, amount);
  const rows = JSON.stringify(
    [...sums].map(([{ id, lineItemId }, amount]) => ({
      ...{ id, line_item_id: lineItemId, amount: plain(amount) },
    })),
  );
  await tx.query(sql.type(noRows)`
    UPDATE line_credits AS credit SET absorbed = credit.absorbed + given.amount
    FROM jsonb_to_recordset(${rows}::jsonb) AS given (id text, line_item_id text, amount numeric)
    WHERE credit.wallet_transaction_id = given.id
      AND credit.subscription_line_item_id = given.line_item_id AND ${rowIsOfEnvironment('credit')}`);
  await tx.query(sql.type(noRows)`
    UPDATE invoice_line_items AS line SET absorbed = coalesce(line.absorbed, 0) + given.amount
    FROM jsonb_to_recordset(${rows}::jsonb) AS given (id text, amount numeric)
    WHERE line.id = given.id AND line.kind = 'credit' AND ${rowIsOfEnvironment('line')}`);
}
