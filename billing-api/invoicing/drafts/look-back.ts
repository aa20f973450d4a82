import type { InstantMs, Interval } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import { commitmentWindowAt } from '../../domain/commitment/commitment-window.js';
import { lineBillingOf } from '../../domain/invoice/line-billing.js';
import { ownPeriodAt } from '../../domain/periods/own-periods.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';

/**
 * The instant before which no line of an earlier invoice matters for an invoice of this period: the
 * start of the longest period, or window of a commitment, that its lines may belong to.
 */
export function lookBackFrom(
  { terms, related }: Pick<BilledSubscription, 'terms' | 'related'>,
  period: Interval,
): InstantMs {
  const starts = [period.startMs];
  const own = { every: terms, steps: 1, startMs: period.startMs };
  if (terms.commitment !== null) {
    const { duration, windowsFromMs } = terms.commitment;
    const span = { ...own, duration, windowsFromMs };
    starts.push(commitmentWindowAt(terms, period.startMs, span).startMs);
  }
  for (const { price_id: id, commitment_duration: duration } of related.lineItems) {
    const { billing_period: billingPeriod, billing_period_count: billingPeriodCount } = mustGet(
      related.prices,
      id,
      'the price of a line item',
    );
    const line = lineBillingOf({ billingPeriod, billingPeriodCount }, terms);
    for (const instant of [period.startMs, period.endMs - 1]) {
      const { startMs = instant } = ownPeriodAt(terms, line.steps, instant) ?? {};
      starts.push(startMs);
    }
    starts.push(commitmentWindowAt(terms, period.startMs, { ...line, duration }).startMs);
  }
  return Math.min(...starts);
}
