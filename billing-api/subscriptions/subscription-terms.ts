import type { SubscriptionTerms } from '../domain/invoice/subscription-terms.js';
import type { SubscriptionRow } from './subscription.resource.js';

/**
 * What decides the periods of a stored subscription: it ends at `end_date` or where it was
 * cancelled. Its commitment is read by `subscriptionCommitmentFrom`.
 */
export function termsFromRow(row: SubscriptionRow): SubscriptionTerms {
  const ends = [
    ...(row.end_date === null ? [] : [row.end_date]),
    ...(row.cancel_at === null ? [] : [row.cancel_at]),
    ...(row.cancel_at_period_end ? [row.current_period_end] : []),
  ];
  return {
    currency: row.currency,
    billingCadence: row.billing_cadence,
    billingCycle: row.billing_cycle,
    billingPeriod: row.billing_period,
    billingPeriodCount: row.billing_period_count,
    billingAnchorMs: row.billing_anchor,
    timezone: row.customer_timezone,
    startMs: row.start_date,
    endMs: ends.length === 0 ? null : Math.min(...ends),
    trialEndMs: row.trial_end,
    prorationBehavior: row.proration_behavior,
    commitment: null,
  };
}
