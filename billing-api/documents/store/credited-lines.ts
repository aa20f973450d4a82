import { sql } from 'slonik';
import { addAt, maxOf, plain, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { noRows } from '../../../sql/columns.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  shareCredits,
  type Credited,
  type CreditShare,
} from '../../domain/settlement/share-credits.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { findCharged, leftOfInvoice, notedOf, type ChargedRow } from './charged-time.js';

/** A credit for unused time that still counts, and where it is kept. */
type KeptCredit = Credited & { readonly id: string; readonly lineItemId: string };

/** The lineages of the line items that an invoice charges. */
const lineagesOf = (invoiceId: string) => sql.fragment`above AS (
    SELECT item.id, item.predecessor_id FROM subscription_line_items AS item
    JOIN invoice_line_items AS line ON line.subscription_line_item_id = item.id
      AND line.invoice_id = ${invoiceId} AND line.kind = 'charge' AND ${rowIsOfEnvironment('line')}
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
  )`;

/**
 * What notes have given back of a charge; or what of it cannot be given back any more, because
 * refunds have left less of its invoice.
 */
function givenBackOf(row: ChargedRow, currency: string): Decimal {
  return maxOf(notedOf(row), row.amount.minus(leftOfInvoice(row, currency)));
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
  const rows = await findCharged(unit, lineagesOf(id), null);
  // What has no time of its own is never unused in part.
  const timed = rows.filter((row) => row.credit_id !== null || row.period_end > row.period_start);
  const figures = timed.map((row) => ({
    lineId: row.line_id,
    invoiceId: row.invoice_id,
    id: row.credit_id,
    lineItemId: row.line_item_id,
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
      id,
      line_item_id: lineItemId,
      amount: plain(amount),
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
