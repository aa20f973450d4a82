import type { Interval } from '../../../contract/instant.js';
import { overlapOf } from '../calendar/interval.js';
import type { Proration } from '../calendar/proration.js';
import { unpausedMs } from '../periods/ledger-periods.js';
import type { OwnPeriod } from '../periods/own-periods.js';
import type { BillableFixedLine } from './billable-line.js';
import type { InvoiceScope } from './invoice-scope.js';
import type { LineItem } from './line-item.js';
import { advancePeriods, arrearPeriod } from './line-periods.js';

/** A line item and the period that it is billed for. */
export type SelectedLine = Omit<BillableFixedLine, 'meter'>;

/** The lines of one item on an invoice (docs/domain.md 13.3), in the order of time. */
export function selectItem(lineItem: LineItem, scope: InvoiceScope): readonly SelectedLine[] {
  const { type, billingCadence } = lineItem.price;
  if (billingCadence === 'ONETIME') return selectOnetime(lineItem, scope);
  return type === 'USAGE' ? selectUsage(lineItem, scope) : selectFixed(lineItem, scope);
}

/**
 * A ONETIME charge is due on the first invoice whose ADVANCE period ends after its start, or else
 * on the last invoice of the subscription; later invoices drop it by `isInvoiced`. Its period is
 * empty.
 */
function selectOnetime(lineItem: LineItem, scope: InvoiceScope): readonly SelectedLine[] {
  const { startMs, endMs } = lineItem;
  if (endMs !== null && endMs <= startMs) return [];
  const { advance, isLast } = scope;
  const isDue = advance === null ? isLast : startMs < advance.endMs;
  return isDue ? [{ lineItem, period: { startMs, endMs: startMs }, proration: null }] : [];
}

/** The part of an interval in which an item exists; null when there is no such part. */
function existenceIn(
  interval: Interval,
  { startMs, endMs }: Pick<LineItem, 'startMs' | 'endMs'>,
): Interval | null {
  return overlapOf(interval, { startMs, endMs: endMs ?? Infinity });
}

/** The usage window of a line (docs/domain.md 7.7). */
function selectUsage(lineItem: LineItem, scope: InvoiceScope): readonly SelectedLine[] {
  const own = arrearPeriod(lineItem, scope, scope.usage);
  const period = own === null ? null : existenceIn(own, lineItem);
  return period === null ? [] : [{ lineItem, period, proration: null }];
}

/** The periods of a FIXED line, each with its share of a full one (docs/domain.md 13.4). */
function selectFixed(lineItem: LineItem, scope: InvoiceScope): readonly SelectedLine[] {
  const isArrear = lineItem.price.invoiceCadence === 'ARREAR';
  const periods = isArrear
    ? [arrearPeriod(lineItem, scope, scope.arrear)]
    : advancePeriods(lineItem, scope);
  const { startMs, endMs, chargedUntilMs = endMs } = lineItem;
  return periods.flatMap((own) => {
    const period = own === null ? null : existenceIn(own, { startMs, endMs: chargedUntilMs });
    if (own === null || period === null) return [];
    return [{ lineItem, period, proration: shareOf(own, period, scope) }];
  });
}

/**
 * The share of a full charge that the covered part of a period takes, without pauses. Without
 * prorations a short first period counts as a full one (docs/domain.md 13.4).
 */
function shareOf(own: OwnPeriod, covered: Interval, { terms }: InvoiceScope): Proration {
  const isScaled = terms.prorationBehavior === 'create_prorations';
  const { startMs, endMs } = isScaled ? own.full : own.fullUnscaled;
  return { coveredMs: unpausedMs(covered, own.pauses), fullMs: endMs - startMs };
}
