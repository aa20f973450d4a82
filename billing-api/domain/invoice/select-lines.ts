import { compareTexts } from '../../../contract/compare-texts.js';
import type { Interval } from '../../../contract/instant.js';
import { wholePeriodsIn } from '../calendar/billing-length.js';
import { gridPeriodAt, lifeOf, nextPeriod, periodContaining } from '../calendar/billing-periods.js';
import { overlapOf } from '../calendar/interval.js';
import { allowanceOfLine } from '../entitlement/line-allowance.js';
import type { LineItem } from './line-item.js';
import type { SubscriptionTerms } from './subscription-terms.js';
import type { Proration } from '../calendar/proration.js';
import type { BillableFixedLine, BillableLine } from './billable-line.js';
import type { InvoicedLine, LineSelectionInputs } from './invoice.js';
import { lineBillingTerms } from './line-billing-terms.js';

/** A line item and the period that it is billed for. */
type SelectedLine = Omit<BillableFixedLine, 'meter'>;

/**
 * The lines of an invoice and the period of each, before any usage is read (docs/domain.md 13.1.2
 * a): line items by reference point (docs/domain.md 13.3), without those already invoiced
 * (docs/domain.md 13.5), in line order.
 * @throws TypeError for a usage line without a meter.
 */
export function selectLines(inputs: LineSelectionInputs): readonly BillableLine[] {
  return inLineOrder(inputs.lineItems)
    .flatMap((lineItem) => selectItem(lineItem, inputs))
    .filter((line) => !isInvoiced(line, inputs.alreadyInvoiced))
    .map((line) => withMeter(line, inputs));
}

/** Adds the meter and the allowance to a usage line (docs/domain.md 10.2). */
function withMeter(line: SelectedLine, inputs: LineSelectionInputs): BillableLine {
  const { lineItem, period } = line;
  if (lineItem.price.type !== 'USAGE') return { ...line, meter: null };
  const { meter } = lineItem;
  if (meter === null) throw new TypeError(`usage line ${lineItem.id} has no meter`);
  const { subscription: terms, entitlements } = inputs;
  const allowance = allowanceOfLine({ meter, window: period, terms, entitlements });
  return { lineItem, period, proration: null, meter, allowance };
}

/** Line order of docs/domain.md 1: by creation, then id by code units. */
function inLineOrder(items: readonly LineItem[]): LineItem[] {
  return [...items].sort((a, b) => a.createdAtMs - b.createdAtMs || compareTexts(a.id, b.id));
}

function selectItem(lineItem: LineItem, inputs: LineSelectionInputs): readonly SelectedLine[] {
  if (lineItem.price.billingCadence === 'ONETIME') return selectOnetime(lineItem, inputs);
  const periods =
    lineItem.price.invoiceCadence === 'ARREAR'
      ? arrearPeriods(lineItem, inputs)
      : advancePeriods(lineItem, inputs);
  return periods.flatMap((period) => selectPeriod(lineItem, period, inputs.subscription));
}

/**
 * Whether an overlapping period, or for a ONETIME item any period, is invoiced (docs/domain.md
 * 13.5).
 */
function isInvoiced(line: SelectedLine, invoiced: readonly InvoicedLine[]): boolean {
  const { lineItem, period } = line;
  return invoiced.some((earlier) => {
    if (earlier.lineItemId !== lineItem.id) return false;
    if (lineItem.price.billingCadence === 'ONETIME') return true;
    return earlier.priceId === lineItem.price.id && overlapOf(earlier.period, period) !== null;
  });
}

/** The period whose ADVANCE lines the invoice has; null when no period follows. */
function advanceTarget(inputs: LineSelectionInputs): Interval | null {
  if (inputs.referencePoint === 'period_start') return inputs.period;
  return nextPeriod(inputs.subscription, inputs.period);
}

/**
 * A ONETIME charge is due on the first invoice whose ADVANCE period ends after its start, or else
 * on the last invoice of the subscription; later invoices drop it by `isInvoiced`. Its period is
 * empty.
 */
function selectOnetime(lineItem: LineItem, inputs: LineSelectionInputs): readonly SelectedLine[] {
  const { startMs, endMs } = lineItem;
  if (endMs !== null && endMs <= startMs) return [];
  const target = advanceTarget(inputs);
  const isLastInvoice = inputs.period.endMs >= lifeOf(inputs.subscription).endMs;
  const isDue = target === null ? isLastInvoice : startMs < target.endMs;
  return isDue ? [{ lineItem, period: { startMs, endMs: startMs }, proration: null }] : [];
}

/**
 * The ended period, or the line's own longer period if it ends at the same time (docs/domain.md
 * 13.3).
 */
function arrearPeriods(lineItem: LineItem, inputs: LineSelectionInputs): readonly Interval[] {
  const { subscription, referencePoint } = inputs;
  const period = overlapOf(inputs.period, lifeOf(subscription));
  if (referencePoint === 'period_start' || period === null) return [];
  if (!isLonger(lineItem, subscription)) return [period];
  const own = periodContaining(lineBillingTerms(lineItem, subscription), period.endMs - 1);
  return own !== null && own.endMs === period.endMs ? [own] : [];
}

/**
 * The period that is charged in advance, or the line's own longer period if it starts at the same
 * time. If the item was added during the ending period, that partial period comes first
 * (docs/domain.md 27).
 */
function advancePeriods(lineItem: LineItem, inputs: LineSelectionInputs): readonly Interval[] {
  const periods: Interval[] = [];
  const addedIn = periodOfAddition(lineItem, inputs);
  if (addedIn !== null) periods.push(addedIn);
  const target = advanceTarget(inputs);
  if (target === null) return periods;
  if (!isLonger(lineItem, inputs.subscription)) return [...periods, target];
  const own = periodContaining(lineBillingTerms(lineItem, inputs.subscription), target.startMs);
  return own !== null && own.startMs === target.startMs ? [...periods, own] : periods;
}

/** The line's period in which the item was added; null if not added in the invoice period. */
function periodOfAddition(lineItem: LineItem, inputs: LineSelectionInputs): Interval | null {
  const { subscription, referencePoint, period } = inputs;
  const wasAddedInside =
    lineItem.startMs > Math.max(period.startMs, subscription.startMs) &&
    lineItem.startMs < period.endMs;
  if (referencePoint === 'period_start' || !wasAddedInside) return null;
  if (!isLonger(lineItem, subscription)) return overlapOf(period, lifeOf(subscription));
  return periodContaining(lineBillingTerms(lineItem, subscription), lineItem.startMs);
}

/** Whether the line's period is longer than the subscription's; never for ONETIME prices. */
function isLonger({ price }: LineItem, subscription: SubscriptionTerms): boolean {
  const { billingPeriod, billingPeriodCount } = price;
  if (billingPeriod === 'ONETIME') return false;
  return wholePeriodsIn({ billingPeriod, billingPeriodCount }, subscription) !== 1;
}

/** A line for the part of a period in which the item exists; none when there is no such part. */
function selectPeriod(
  lineItem: LineItem,
  period: Interval,
  subscription: SubscriptionTerms,
): readonly SelectedLine[] {
  const existence = { startMs: lineItem.startMs, endMs: lineItem.endMs ?? Infinity };
  const covered = overlapOf(period, existence);
  if (covered === null) return [];
  if (lineItem.price.type === 'USAGE') return selectUsageWindow(lineItem, covered, subscription);
  const full = fullPeriodOf(lineBillingTerms(lineItem, subscription), period);
  return [{ lineItem, period: covered, proration: prorationOf(covered, full) }];
}

/** The usage window of a line (docs/domain.md 7.7): usage during a trial is not billed. */
function selectUsageWindow(
  lineItem: LineItem,
  covered: Interval,
  { trialEndMs }: SubscriptionTerms,
): readonly SelectedLine[] {
  const period = overlapOf(covered, { startMs: trialEndMs ?? covered.startMs, endMs: Infinity });
  return period === null ? [] : [{ lineItem, period, proration: null }];
}

/**
 * G of docs/domain.md 13.4: the grid period; but without prorations a short first period counts as
 * a full one.
 */
function fullPeriodOf(own: SubscriptionTerms, period: Interval): Interval {
  const grid = gridPeriodAt(own, period.startMs);
  const isFirst = period.startMs === own.startMs;
  if (!isFirst || own.prorationBehavior === 'create_prorations') return grid;
  return { startMs: period.startMs, endMs: grid.endMs };
}

function prorationOf(covered: Interval, full: Interval): Proration {
  return { coveredMs: covered.endMs - covered.startMs, fullMs: full.endMs - full.startMs };
}
