import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, type Decimal } from '../../../contract/decimal.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { groupBy } from '../../../runtime/group-by.js';
import { instantColumn, numericColumn } from '../../../sql/columns.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { UnusedCharge } from '../../domain/invoice/invoice.js';
import {
  movedEnd,
  unusedAmount,
  unusedShare,
  type AdvanceCharge,
} from '../../domain/proration/unused-charge.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import { lineItemFromRow } from '../../subscriptions/lines/line-item-from-row.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';

/** A line item of which something that was charged in advance is unused. */
export type UnusedItem = UnusedCharge & {
  readonly row: LineItemRow;
  /** What it was charged, after discounts. */
  readonly charged: Decimal;
};

const chargeRow = z.object({
  subscription_line_item_id: z.string(),
  net: numericColumn.transform(decimalOf),
  period_start: instantColumn,
  period_end: instantColumn,
});

/** Only what is charged in advance, period by period, can be unused (docs/domain.md 23.3). */
function isAdvance({ price_type: type, invoice_cadence, billing_period }: LineItemRow): boolean {
  return type === 'FIXED' && invoice_cadence === 'ADVANCE' && billing_period !== 'ONETIME';
}

/**
 * The charges of line items that reach beyond an instant. A draft counts only when it was edited by
 * hand: any other is computed again, and then no longer bills the time after the instant.
 */
async function findCharges(
  { tx }: ReadUnit,
  lineItems: readonly LineItemRow[],
  afterMs: InstantMs,
): Promise<ReadonlyMap<string, readonly AdvanceCharge[]>> {
  const ids = lineItems.map(({ id }) => id);
  const rows = await tx.any(sql.type(chargeRow)`
    SELECT line.subscription_line_item_id, line.period_start, line.period_end,
      line.amount - line.line_item_discount - line.invoice_level_discount AS net
    FROM invoice_line_items AS line
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    WHERE line.subscription_line_item_id = ANY (${sql.array(ids, 'text')})
      AND line.kind = 'charge' AND line.period_end > ${formatInstant(afterMs)}::timestamptz
      AND (invoice.invoice_status = 'FINALIZED'
        OR (invoice.invoice_status = 'DRAFT' AND invoice.is_manually_edited))
      AND ${rowIsOfEnvironment('line')}
    ORDER BY line.period_start, line.id`);
  const charges = rows.map(({ period_start: startMs, period_end: endMs, net, ...row }) => ({
    ...{ id: row.subscription_line_item_id, charge: { net, period: { startMs, endMs } } },
  }));
  const byItem = groupBy(charges, ({ id }) => id);
  return new Map([...byItem].map(([id, own]) => [id, own.map(({ charge }) => charge)]));
}

/**
 * What is unused at an instant of everything that a subscription was charged in advance, in the
 * order of its lines (docs/domain.md 23.1).
 */
export async function findUnused(
  unit: ReadUnit,
  { related, terms }: BilledSubscription,
  atMs: InstantMs,
): Promise<readonly UnusedItem[]> {
  const lineItems = related.lineItems.filter(isAdvance);
  const pauses = terms.periods.flatMap((period) => period.pauses);
  const paused = pauses.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  const chargesOf = await findCharges(unit, lineItems, atMs - paused);
  // Fixed lines have no meters.
  const metering = { meters: new Map(), effectiveMeters: new Map() } as const;
  return lineItems.flatMap((row) => {
    // Absent means none: no invoice charges the line beyond this instant.
    const charges = chargesOf.get(row.id) ?? [];
    const exact = unusedAmount(charges, pauses, atMs);
    const [first] = charges;
    if (exact.isZero() || first === undefined) return [];
    return {
      row,
      lineItem: lineItemFromRow(row, related.prices, metering),
      period: {
        startMs: atMs,
        endMs: Math.max(...charges.map((charge) => movedEnd(charge, pauses, atMs))),
      },
      proration: charges.length === 1 ? unusedShare(first, pauses, atMs) : null,
      exact,
      charged: charges.reduce((sum, { net }) => sum.plus(net), first.net.minus(first.net)),
    };
  });
}
