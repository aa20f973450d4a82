import { wholePeriodsIn, type BilledEvery } from '../calendar/billing-length.js';
import type { Price } from '../price/price.js';

/** The length of a line's own billing period. */
export type LineBilling = {
  readonly every: BilledEvery;
  /** In billing periods of the subscription: 1, or more for a longer line (docs/domain.md 13.3). */
  readonly steps: number;
};

/**
 * The length of a line's own billing period. A ONETIME price has that of the subscription.
 * @throws TypeError when it is no whole number of billing periods, which is refused before
 *   (docs/domain.md 9.4).
 */
export function lineBillingOf(
  { billingPeriod, billingPeriodCount }: Pick<Price, 'billingPeriod' | 'billingPeriodCount'>,
  subscription: BilledEvery,
): LineBilling {
  if (billingPeriod === 'ONETIME') return { every: subscription, steps: 1 };
  const every = { billingPeriod, billingPeriodCount };
  const steps = wholePeriodsIn(every, subscription);
  if (steps === null) throw new TypeError('a line has no whole number of billing periods');
  return { every, steps };
}
