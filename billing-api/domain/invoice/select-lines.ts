import { compareTexts } from '../../../contract/compare-texts.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { overlapOf } from '../calendar/interval.js';
import type { WindowGrid } from '../calendar/usage-windows.js';
import { allowanceOfLine } from '../entitlement/line-allowance.js';
import { anchorMsAt } from '../periods/ledger-periods.js';
import type { LineMeter } from '../usage/line-meter.js';
import type { BillableLine } from './billable-line.js';
import type { InvoicedLine, LineSelectionInputs } from './invoice.js';
import { invoiceScopeOf } from './invoice-scope.js';
import type { LineItem } from './line-item.js';
import { selectItem, type SelectedLine } from './select-item.js';

/**
 * The lines of an invoice and the period of each, before any usage is read (docs/domain.md 13.1.2
 * a): line items by reference point (docs/domain.md 13.3), without those already invoiced
 * (docs/domain.md 13.5), in line order.
 * @throws TypeError for a usage line without a meter.
 */
export function selectLines(inputs: LineSelectionInputs): readonly BillableLine[] {
  const scope = invoiceScopeOf(inputs);
  return inLineOrder(inputs.lineItems)
    .flatMap((lineItem) => selectItem(lineItem, scope))
    .filter((line) => !isInvoiced(line, inputs))
    .map((line) => withMeter(line, inputs));
}

/** Line order of docs/domain.md 1: by creation, then id by code units. */
function inLineOrder(items: readonly LineItem[]): LineItem[] {
  return [...items].sort((a, b) => a.createdAtMs - b.createdAtMs || compareTexts(a.id, b.id));
}

/** Whether an invoice has a usage line that ends in the part of a split period that is billed. */
function isSegmentInvoiced(earlier: InvoicedLine, { startMs, endMs }: Interval): boolean {
  return startMs < earlier.period.endMs && earlier.period.endMs <= endMs;
}

/**
 * Whether an overlapping period, or for a ONETIME item any period, is invoiced (docs/domain.md
 * 13.5). Usage of a split period is on the invoice of each of its parts, up to the part's end.
 */
function isInvoiced(
  { lineItem, period }: SelectedLine,
  { alreadyInvoiced, period: billed }: LineSelectionInputs,
): boolean {
  const { id, type, billingCadence } = lineItem.price;
  return alreadyInvoiced.some((earlier) => {
    if (earlier.lineItemId !== lineItem.id) return false;
    if (billingCadence === 'ONETIME') return true;
    if (earlier.priceId !== id) return false;
    const isOfSegment = type === 'USAGE' && earlier.isOfSegment === true;
    if (isOfSegment) return isSegmentInvoiced(earlier, billed);
    return overlapOf(earlier.period, period) !== null;
  });
}

/** Adds the meter and the allowance to a usage line (docs/domain.md 10.2). */
function withMeter(line: SelectedLine, inputs: LineSelectionInputs): BillableLine {
  const { lineItem, period } = line;
  if (lineItem.price.type !== 'USAGE') return { ...line, meter: null };
  const { meter } = lineItem;
  if (meter === null) throw new TypeError(`usage line ${lineItem.id} has no meter`);
  const { subscription: ledger, entitlements } = inputs;
  const bucketGrid = bucketGridOf(meter, inputs, period.startMs);
  const allowance = allowanceOfLine({ meter, window: period, bucketGrid, ledger, entitlements });
  return { lineItem, period, proration: null, meter, bucketGrid, allowance };
}

/** MONTH buckets are counted from the anchor of the period in which the usage window starts. */
function bucketGridOf(
  { bucketSize: size }: LineMeter,
  { subscription }: LineSelectionInputs,
  startMs: InstantMs,
): WindowGrid | null {
  if (size === null) return null;
  return { size, timezone: subscription.timezone, anchorMs: anchorMsAt(subscription, startMs) };
}
