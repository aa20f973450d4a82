import type { InstantMs } from '../../../contract/instant.js';
import { wholePeriodsIn } from '../calendar/billing-length.js';
import type { Price } from './price.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';

/** The terms of a subscription that its prices must match. */
export type PriceMatch = {
  /** Lower case. */
  readonly currency: string;
  readonly billingPeriod: BillingPeriod;
  readonly billingPeriodCount: number;
};

/** Whether a price is live: published, and not ended at `now` (docs/domain.md 9.4). */
export function isLive(price: Pick<Price, 'status' | 'endMs'>, now: InstantMs): boolean {
  return price.status === 'published' && (price.endMs === null || price.endMs > now);
}

/**
 * The prices that attach to a subscription (docs/domain.md 9.4), in the order given: live, of the
 * same currency, and either ONETIME or of a length that is a whole multiple of the subscription's.
 * If no price of a plan matches, the caller must refuse the request.
 */
export function matchingPrices(
  prices: readonly Price[],
  subscription: PriceMatch,
  now: InstantMs,
): readonly Price[] {
  return prices.filter(
    (price) =>
      isLive(price, now) &&
      price.currency === subscription.currency &&
      hasMatchingLength(price, subscription),
  );
}

function hasMatchingLength(price: Price, subscription: PriceMatch): boolean {
  const { billingPeriod, billingPeriodCount } = price;
  if (billingPeriod === 'ONETIME') return true;
  return wholePeriodsIn({ billingPeriod, billingPeriodCount }, subscription) !== null;
}
