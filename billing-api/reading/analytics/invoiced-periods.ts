import type { InstantMs, Interval } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { overlapOf } from '../../domain/calendar/interval.js';
import { lineBillingOf } from '../../domain/invoice/line-billing.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { lifeOf, periodAt } from '../../domain/periods/ledger-periods.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { AnalyticsLines } from './analytics-lines.js';
import type { AnalyticsLine } from './line-in-range.js';

/** A billing period of a subscription, for which an invoice can be computed. */
export type InvoicedPeriod = { readonly subscriptionId: string; readonly period: Interval };

/** So many invoices are computed for an analysis. */
const INVOICES_MAX = 36;

/**
 * The billing periods that a range consists of; the running one may end after it, when the range
 * reaches until now. Null where the range holds a part of a period.
 */
function wholePeriods(
  ledger: PeriodLedger,
  range: Interval,
  now: InstantMs,
): readonly Interval[] | null {
  const life = overlapOf(range, lifeOf(ledger));
  if (life === null) return [];
  const periods: Interval[] = [];
  let row = periodAt(ledger, life.startMs);
  while (row !== null && row.startMs < life.endMs && row.startMs <= now) {
    const { startMs, endMs } = row;
    const isCut = startMs < life.startMs || (endMs > life.endMs && life.endMs < now);
    if (isCut || periods.length > INVOICES_MAX) return null;
    // Nothing of a trial is charged.
    if (row.kind !== 'trial') periods.push({ startMs, endMs });
    row = periodAt(ledger, endMs);
  }
  return periods;
}

/** Whether invoices of single billing periods say what a line costs, and of nobody else's usage. */
function isInvoiced({ subscription, lineItem }: AnalyticsLine, areChildrenIncluded: boolean) {
  const { subscription_status: status, subscription_type: type } = subscription;
  if (!isIn(SUBSCRIPTION, 'running', status) || type === 'inherited') return false;
  if (type === 'parent' && !areChildrenIncluded) return false;
  if (subscription.auto_invoice_threshold !== null) return false;
  const { billing_period: billingPeriod, billing_period_count: billingPeriodCount } = subscription;
  return lineBillingOf(lineItem.price, { billingPeriod, billingPeriodCount }).steps === 1;
}

/**
 * The invoices that charge exactly the usage that is analysed; null where there are none: the
 * analysis is split or narrowed, its range holds a part of a billing period, or a subscription is
 * charged in another way.
 */
export function invoicedPeriods(
  { lines, query, ledgers, now }: AnalyticsLines,
  areChildrenIncluded: boolean,
): readonly InvoicedPeriod[] | null {
  const { split, narrowedBy, sources, range } = query;
  const isSplit = split.source || split.properties.length > 0;
  if (isSplit || narrowedBy.length > 0 || sources !== null) return null;
  if (!lines.every((line) => isInvoiced(line, areChildrenIncluded))) return null;
  const found: InvoicedPeriod[] = [];
  for (const subscriptionId of new Set(lines.map(({ subscription }) => subscription.id))) {
    const ledger = mustGet(ledgers, subscriptionId, 'the periods of a subscription');
    const periods = wholePeriods(ledger, range, now);
    if (periods === null) return null;
    found.push(...periods.map((period) => ({ subscriptionId, period })));
  }
  return found.length > INVOICES_MAX ? null : found;
}
