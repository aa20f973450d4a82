import { openLedger } from '../domain/periods/ledger-rows.js';
import type { LedgerPeriod, PeriodLedger, PeriodTerms } from '../domain/periods/period-ledger.js';
import type { SubscriptionRow } from '../declarations/subscriptions/subscription.resource.js';

function termsFromRow(row: SubscriptionRow): PeriodTerms {
  const ends = [
    ...(row.end_date === null ? [] : [row.end_date]),
    ...(row.cancel_at === null ? [] : [row.cancel_at]),
    ...(row.cancel_at_period_end && row.cancel_at === null ? [row.current_period_end] : []),
  ];
  return {
    billingCadence: row.billing_cadence,
    billingCycle: row.billing_cycle,
    billingPeriod: row.billing_period,
    billingPeriodCount: row.billing_period_count,
    timezone: row.customer_timezone,
    endMs: ends.length === 0 ? null : Math.min(...ends),
    ...(row.subscription_type === 'grouped_invoicing' ? { isGrouped: true } : {}),
  };
}

/**
 * The periods of a stored subscription, which ends at `end_date` or where it was cancelled. A
 * subscription of a release that recorded no periods has the first one that its terms say.
 */
export function ledgerFrom(
  row: SubscriptionRow,
  periods: readonly LedgerPeriod[] | undefined,
): PeriodLedger {
  const terms = termsFromRow(row);
  // Absent means none: a release that recorded no periods stored the subscription.
  const [first, ...others] = periods ?? [];
  if (first !== undefined) return { ...terms, periods: [first, ...others] };
  const { start_date: startMs, billing_anchor: billingAnchorMs, trial_end: trialEndMs } = row;
  return openLedger(terms, { startMs, billingAnchorMs, trialEndMs });
}
