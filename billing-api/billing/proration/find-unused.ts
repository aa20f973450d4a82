import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, maxOf, sumOf, ZERO, type Decimal } from '../../../contract/decimal.js';
import { formatInstant, type InstantMs, type Interval } from '../../../contract/instant.js';
import { groupBy } from '../../../runtime/group-by.js';
import { instantColumn, numericColumn } from '../../../sql/columns.js';
import { INVOICE_LINES } from '../../declarations/invoices/invoice-line.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { UnusedCharge } from '../../domain/invoice/invoice.js';
import {
  movedEnd,
  notedWithoutTaxes,
  unusedAmount,
  unusedShare,
  type AdvanceCharge,
} from '../../domain/proration/unused-charge.js';
import { rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import { lineItemFromRow } from '../../subscriptions/lines/line-item-from-row.js';
import { findRefundedLines } from './refunded-lines.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** A line item of which something that was charged in advance is unused. */
export type UnusedItem = UnusedCharge & {
  readonly row: LineItemRow;
  /** What it was charged, after discounts. */
  readonly charged: Decimal;
};

const chargeRow = z.object({
  subscription_line_item_id: z.string(),
  /** Null for what was given back, as the next one. */
  line_id: z.string().nullable(),
  invoice_id: z.string().nullable(),
  net: numericColumn.transform(decimalOf),
  /** What it costs without discounts; null where none of them is fixed. */
  gross: numericColumn.transform(decimalOf).nullable(),
  period_start: instantColumn,
  period_end: instantColumn,
  /** Null for what was given back. */
  trace: INVOICE_LINES.columns.trace.schema.nullable(),
  /** What credit notes that are not voided take of it, with taxes. */
  noted: numericColumn.transform(decimalOf),
  tax: numericColumn.transform(decimalOf),
  /** What all lines of its invoice cost together, after discounts. */
  taxed: numericColumn.transform(decimalOf),
  currency: z.string(),
  /** What was given back of its invoice by notes and refunds. */
  refunded: numericColumn.transform(decimalOf),
});

type ChargeRow = z.infer<typeof chargeRow>;

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

/**
 * For how long something is charged, from its start on, as if there were no pauses: those that had
 * ended when it was charged have no part in it (docs/domain.md 23.1).
 */
export function chargedPeriod({
  period_start: startMs,
  period_end,
  trace,
}: Pick<ChargeRow, 'period_start' | 'period_end' | 'trace'>): Interval {
  // Absent means zero: what was given back, or is charged without a time, has no share.
  const coveredMs = trace?.proration?.coveredMs ?? 0;
  return { startMs, endMs: coveredMs > 0 ? startMs + coveredMs : period_end };
}

/**
 * The charges of line items, and the credits for them (below 0), that reach beyond an instant. A
 * draft counts only when it was edited by hand: any other is computed again, and then no longer
 * bills the time after the instant. Who writes by them has locked their invoices (`lockCharges`).
 */
export async function findCharges(
  unit: ReadUnit,
  lineItems: readonly LineItemRow[],
  afterMs: InstantMs,
): Promise<ReadonlyMap<string, readonly AdvanceCharge[]>> {
  const ids = lineItems.map(({ id }) => id);
  const rows = await unit.tx.any(sql.type(chargeRow)`
    SELECT line.subscription_line_item_id, line.id AS line_id, line.invoice_id, line.period_start, line.period_end,
      line.amount - line.line_item_discount - line.invoice_level_discount AS net,
      (SELECT line.amount WHERE EXISTS (SELECT FROM coupon_applications AS coupon
        WHERE coupon.invoice_id = invoice.id AND coupon.discount_type = 'fixed'
          AND ${rowIsOfEnvironment('coupon')})) AS gross,
      line.trace, invoice.currency, invoice.total_tax AS tax,
      (SELECT coalesce(sum(noted.amount), 0) FROM credit_note_lines AS noted
        JOIN credit_notes AS note ON note.id = noted.credit_note_id AND ${rowIsOfEnvironment('note')}
        WHERE noted.invoice_line_item_id = line.id AND note.credit_note_status <> 'VOIDED'
          AND ${rowIsOfEnvironment('noted')}) AS noted,
      (SELECT sum(greatest(0, each.amount - each.line_item_discount - each.invoice_level_discount))
        FROM invoice_line_items AS each
        WHERE each.invoice_id = line.invoice_id AND ${rowIsOfEnvironment('each')}) AS taxed,
      invoice.refunded_amount AS refunded
    FROM invoice_line_items AS line
    JOIN invoices AS invoice ON invoice.id = line.invoice_id AND ${rowIsOfEnvironment('invoice')}
    WHERE line.subscription_line_item_id = ANY (${sql.array(ids, 'text')})
      AND line.kind = 'charge' AND line.period_end > ${formatInstant(afterMs)}::timestamptz
      AND (${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'claimed')}
        OR (invoice.invoice_status = 'DRAFT' AND invoice.is_manually_edited))
      AND ${rowIsOfEnvironment('line')}
    UNION ALL
    SELECT credit.subscription_line_item_id, NULL, NULL, credit.period_start, credit.period_end,
      credit.absorbed - credit.amount, NULL, NULL, '', 0, 0, 0, 0
    FROM line_credits AS credit
    WHERE credit.subscription_line_item_id = ANY (${sql.array(ids, 'text')})
      AND credit.absorbed < credit.amount
      AND credit.period_end > ${formatInstant(afterMs)}::timestamptz
      AND ${rowIsOfEnvironment('credit')}
    ORDER BY period_start, subscription_line_item_id`);
  const refunded = rows.filter((row) => row.refunded.greaterThan(ZERO));
  const refundOf = await findRefundedLines(
    unit,
    refunded.flatMap(({ invoice_id: id }) => (id === null ? [] : [id])),
  );
  const charges = rows.map(({ net, gross, ...row }) => {
    const ofNotes = notedWithoutTaxes(row.noted, row, row.currency);
    // Absent means zero: nothing was refunded of its invoice but by notes.
    const noted = ofNotes.plus(refundOf.get(row.line_id ?? 'none') ?? ZERO);
    const before = gross === null ? {} : { gross };
    const charge = { net, noted, period: chargedPeriod(row), ...before };
    return { id: row.subscription_line_item_id, charge };
  });
  const byItem = groupBy(charges, ({ id }) => id);
  return new Map([...byItem].map(([id, own]) => [id, own.map(({ charge }) => charge)]));
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
