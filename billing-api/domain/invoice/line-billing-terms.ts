import type { LineItem } from './line-item.js';
import type { SubscriptionTerms } from './subscription-terms.js';

/**
 * The subscription with the length of a line's own billing period, which may be longer: periods
 * counted from the same anchor (docs/domain.md 13.4).
 */
export function lineBillingTerms(
  { price }: LineItem,
  subscription: SubscriptionTerms,
): SubscriptionTerms {
  const { billingPeriod, billingPeriodCount } = price;
  if (billingPeriod === 'ONETIME') return subscription;
  return { ...subscription, billingPeriod, billingPeriodCount };
}
