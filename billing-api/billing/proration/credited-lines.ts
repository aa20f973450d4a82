import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, maxOf, ZERO, type Decimal } from '../../../contract/decimal.js';
import { instantColumn, numericColumn } from '../../../sql/columns.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { shareCredits, type Credited } from '../../domain/proration/share-credits.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';

const creditedRow = z.object({
  /** The invoice line that was charged; null for a credit. */
  line_id: z.string().nullable(),
  root_id: z.string(),
  period_start: instantColumn,
  period_end: instantColumn,
  amount: numericColumn.transform(decimalOf),
});

/**
 * What proration credits have given back of the lines of an invoice, by their ids; lines without
 * one are left out. A credit of a line item counts against all charges of it and of what it
 * continues, on whatever invoice (docs/domain.md 23.1).
 */
export async function findCreditedLines(
  { tx }: StatementUnit,
  { id, currency }: Pick<InvoiceRow, 'id' | 'currency'>,
): Promise<ReadonlyMap<string, Decimal>> {
  const rows = await tx.any(sql.type(creditedRow)`
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
    SELECT line.id AS line_id, lineage.root_id, line.period_start, line.period_end,
      line.amount - line.line_item_discount - line.invoice_level_discount AS amount
    FROM lineage JOIN invoice_line_items AS line ON line.subscription_line_item_id = lineage.id
      AND line.kind = 'charge' AND line.price_type = 'FIXED' AND line.period_end > line.period_start
      AND ${rowIsOfEnvironment('line')}
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    WHERE invoice.invoice_status = 'FINALIZED'
      OR (invoice.invoice_status = 'DRAFT' AND invoice.is_manually_edited)
    UNION ALL
    SELECT NULL, lineage.root_id, credit.period_start, credit.period_end, credit.amount
    FROM lineage JOIN line_credits AS credit ON credit.subscription_line_item_id = lineage.id
      AND ${rowIsOfEnvironment('credit')}
    UNION ALL
    SELECT NULL, lineage.root_id, line.period_start, line.period_end, -line.amount
    FROM lineage JOIN invoice_line_items AS line ON line.subscription_line_item_id = lineage.id
      AND line.kind = 'credit' AND ${rowIsOfEnvironment('line')}
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    -- What a voided invoice had set off went to a wallet.
    WHERE invoice.invoice_status IN ('DRAFT', 'FINALIZED')
      OR (invoice.invoice_status = 'VOIDED' AND invoice.finalized_at IS NOT NULL)
    ORDER BY root_id, period_start, line_id`);
  const figures = rows.map((row): Credited & { readonly lineId: string | null } => ({
    lineId: row.line_id,
    ownerId: row.root_id,
    period: { startMs: row.period_start, endMs: row.period_end },
    amount: maxOf(ZERO, row.amount),
  }));
  const charges = figures.flatMap((one) =>
    one.lineId === null ? [] : [{ ...one, lineId: one.lineId }],
  );
  const credits = figures.filter(({ lineId }) => lineId === null);
  return shareCredits(charges, credits, currency);
}
