import { addAt, maxOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { UnusedCharge } from '../../domain/invoice/invoice.js';
import {
  movedEnd,
  unusedAmount,
  unusedShare,
  type AdvanceCharge,
} from '../../domain/settlement/unused-charge.js';
import type { ReadUnit } from '../../records/unit.js';
import { lineItemFromRow } from '../../subscriptions/lines/line-item-from-row.js';
import { findRefundedLines } from './refunded-lines.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import {
  chargedPeriod,
  findCharged,
  notedOf,
  type ChargedRow,
} from '../../documents/store/charged-time.js';

/** The line of an invoice that charges a line item. */
export type ChargedLine = {
  readonly id: string;
  readonly invoiceId: string;
  readonly displayName: string;
  /** What credits for unused time have given back of it, without taxes. */
  readonly credited: Decimal;
};

/** A charge in advance, by its line; or a credit of one (below 0), which has none. */
export type ItemCharge = AdvanceCharge & { readonly line: ChargedLine | null };

/** A line item of which something that was charged in advance is unused. */
export type UnusedItem = UnusedCharge & {
  readonly row: LineItemRow;
  readonly charges: readonly ItemCharge[];
  /** What it was charged, after discounts. */
  readonly charged: Decimal;
};

/** What is charged in advance, period by period, can be unused in part (docs/domain.md 23.3). */
export function isAdvance({
  price_type: type,
  invoice_cadence,
  billing_period,
}: LineItemRow): boolean {
  return type === 'FIXED' && invoice_cadence === 'ADVANCE' && billing_period !== 'ONETIME';
}

/** Whether a ONETIME line lies after an instant: its charge is then unused as a whole (13.3). */
function isToCome({ billing_period: period, start_date: startMs }: LineItemRow, atMs: InstantMs) {
  return period === 'ONETIME' && startMs > atMs;
}

/** What refunds have given back of the lines that are charged, by their ids. */
function findRefunded(unit: ReadUnit, rows: readonly ChargedRow[]) {
  const refunded = rows.filter((row) => row.refunded.greaterThan(ZERO));
  const invoices = refunded.flatMap(({ invoice_id: id }) => (id === null ? [] : [id]));
  return findRefundedLines(unit, invoices);
}

/**
 * The charges of line items, and the credits for them (below 0), that reach beyond an instant. Who
 * writes by them has locked their invoices (`lockCharges`).
 */
export async function findCharges(
  unit: ReadUnit,
  lineItems: readonly LineItemRow[],
  afterMs: InstantMs,
): Promise<ReadonlyMap<string, readonly ItemCharge[]>> {
  const ids = lineItems.map(({ id }) => id);
  const rows = await findCharged(unit, ids, afterMs);
  const refundOf = await findRefunded(unit, rows);
  const credited = new Map<string, Decimal>();
  for (const row of rows) if (row.invoice_id === null) addAt(credited, row.line_id, row.amount);
  const chargeOf = (row: ChargedRow): ItemCharge => {
    const period = chargedPeriod(row);
    const { line_id: id, invoice_id: invoiceId, display_name: displayName } = row;
    if (invoiceId === null) return { period, net: row.amount.negated(), line: null };
    // Absent means zero: nothing was refunded of its invoice but by notes, or was unused before.
    const [refund, before] = [refundOf.get(id) ?? ZERO, credited.get(id) ?? ZERO];
    const noted = notedOf(row).plus(refund);
    const line = { id, invoiceId, displayName, credited: before };
    const charge = { period, net: row.amount, noted, line };
    return row.gross === null ? charge : { ...charge, gross: row.gross };
  };
  const byItem = groupBy(rows, ({ line_item_id: id }) => id);
  return new Map([...byItem].map(([id, own]) => [id, own.map(chargeOf)]));
}

/** A line item with those that it continues, the first one first. */
export function lineageOf(
  last: LineItemRow,
  lineItems: readonly LineItemRow[],
): readonly LineItemRow[] {
  const byId = new Map(lineItems.map((item) => [item.id, item]));
  const items: LineItemRow[] = [];
  let item: LineItemRow | undefined = last;
  while (item !== undefined) {
    items.unshift(item);
    item = byId.get(item.predecessor_id ?? 'none');
  }
  return items;
}

/** The lineages of line items, in the order of their last ones. */
function lineages(lineItems: readonly LineItemRow[]): readonly (readonly LineItemRow[])[] {
  const continued = new Set(lineItems.map(({ predecessor_id: id }) => id));
  const last = lineItems.filter(({ id }) => !continued.has(id));
  return last.map((item) => lineageOf(item, lineItems));
}

/** What a subscription may have unused at an instant: its lines, and from when on their charges. */
export function reachOf({ related, terms }: BilledSubscription, atMs: InstantMs) {
  const lineItems = related.lineItems.filter((row) => isAdvance(row) || isToCome(row, atMs));
  const pauses = terms.periods.flatMap((period) => period.pauses);
  const paused = pauses.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  return { lineItems, pauses, afterMs: atMs - paused };
}

/**
 * What is unused at an instant of everything that a subscription was charged in advance, in the
 * order of its lines (docs/domain.md 23.1).
 */
export async function findUnused(
  unit: ReadUnit,
  loaded: BilledSubscription,
  atMs: InstantMs,
): Promise<readonly UnusedItem[]> {
  const { related } = loaded;
  const { lineItems, pauses, afterMs } = reachOf(loaded, atMs);
  const chargesOf = await findCharges(unit, lineItems, afterMs);
  // Fixed lines have no meters.
  const metering = { meters: new Map(), effectiveMeters: new Map() } as const;
  return lineages(lineItems).flatMap((items) => {
    // Absent means none: no invoice charges the line beyond this instant.
    const charges = items.flatMap(({ id }) => chargesOf.get(id) ?? []);
    const [first] = charges;
    const row = items.at(-1);
    if (first === undefined || row === undefined) return [];
    const isWhole = isToCome(row, atMs);
    const exact = isWhole
      ? maxOf(ZERO, sumOf(charges.map(({ net, noted = ZERO }) => net.minus(noted))))
      : unusedAmount(charges, pauses, atMs);
    if (exact.isZero()) return [];
    return {
      row,
      charges,
      lineItem: lineItemFromRow(row, related.prices, metering),
      period: {
        startMs: atMs,
        endMs: Math.max(...charges.map((charge) => movedEnd(charge, pauses, atMs))),
      },
      proration: charges.length === 1 && !isWhole ? unusedShare(first, pauses, atMs) : null,
      exact,
      charged: charges.reduce((sum, { net }) => sum.plus(net), first.net.minus(first.net)),
    };
  });
}
