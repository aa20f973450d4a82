import { sql } from 'slonik';
import { z } from 'zod';
import { addAt, decimalOf, plain, type Decimal } from '../../contract/decimal.js';
import { groupBy } from '../../runtime/group-by.js';
import { instantColumn, numericColumn } from '../../sql/columns.js';
import { shareCredits } from '../domain/proration/share-credits.js';
import { notedWithoutTaxes } from '../domain/proration/unused-charge.js';
import type { ReadUnit } from '../records/unit.js';
import { CHARGED_LINEAGES } from './charged-lineages.js';

const figure = numericColumn.transform(decimalOf);
const dividedRow = z.object({
  root_id: z.string(),
  id: z.string(),
  /** Null for a credit. */
  invoice_id: z.string().nullable(),
  currency: z.string(),
  period_start: instantColumn,
  period_end: instantColumn,
  amount: figure,
  noted: figure,
  tax: figure,
  taxed: figure,
});
type DividedRow = z.output<typeof dividedRow>;

/** Adds what the credits of a lineage have given back of each invoice. */
function addShares(of: Map<string, Decimal>, rows: readonly DividedRow[]): void {
  const figures = rows.map((row) => ({
    ...{ ownerId: row.root_id, lineId: row.id, amount: row.amount, invoiceId: row.invoice_id },
    period: { startMs: row.period_start, endMs: row.period_end },
    noted: notedWithoutTaxes(row.noted, row, row.currency),
  }));
  const charges = figures.filter(({ invoiceId }) => invoiceId !== null);
  const credits = figures.filter(({ invoiceId }) => invoiceId === null);
  const [first] = rows.filter(({ invoice_id: id }) => id !== null);
  if (first === undefined) return;
  const invoiceOf = new Map(rows.map(({ id, invoice_id }) => [id, invoice_id]));
  for (const { lineId, amount } of shareCredits(charges, credits, first.currency)) {
    addAt(of, invoiceOf.get(lineId) ?? '', amount);
  }
}

/**
 * What credits for unused time have given back of invoices, in the few lineages in which a credit
 * is of several charges or of none of its time: divided as where notes and voiding look for it
 * (docs/domain.md 19.2).
 * @returns as JSON, for a statement.
 */
export async function findDividedCredits({ tx }: ReadUnit): Promise<string> {
  const rows = await tx.any(sql.type(dividedRow)`
    WITH RECURSIVE ${CHARGED_LINEAGES}
    SELECT root_id, id, invoice_id, currency, period_start, period_end, net AS amount, noted, tax, taxed
    FROM charges JOIN divided USING (root_id) WHERE period_end > period_start
    UNION ALL
    SELECT lineage.root_id, unused.id, NULL, '', unused.period_start, unused.period_end, unused.amount, 0, 0, 0
    FROM unused JOIN lineage ON lineage.id = unused.item_id JOIN divided USING (root_id)
    ORDER BY root_id, period_start, id`);
  const given = new Map<string, Decimal>();
  for (const own of groupBy(rows, ({ root_id: id }) => id).values()) addShares(given, own);
  const shares = [...given].map(([invoice_id, amount]) => ({ invoice_id, amount: plain(amount) }));
  return JSON.stringify(shares);
}
