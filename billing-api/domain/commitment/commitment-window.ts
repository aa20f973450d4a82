import type { InstantMs, Interval } from '../../../contract/instant.js';
import { billingLengthOf, multipleOf } from '../calendar/billing-length.js';
import { gridPeriodAt, lifeOf, periodContaining } from '../calendar/billing-periods.js';
import type { BillingPeriod, PeriodTerms } from '../calendar/billing-grid.js';

/** Whether a commitment lasts longer than one billing period, count included (domain.md 11.2). */
function isLonger(duration: BillingPeriod | null, terms: PeriodTerms): boolean {
  if (duration === null) return false;
  const length = billingLengthOf({ billingPeriod: duration, billingPeriodCount: 1 });
  return (multipleOf(length, billingLengthOf(terms)) ?? 1) > 1;
}

/**
 * The window of a commitment for an instant: the billing period that contains it, as it would be
 * without threshold invoices, or for a longer duration the stretch of that length which contains
 * the start of that period; stretches are counted from the start of the subscription, after a trial
 * from its end, clamped to short months (domain.md 11.2).
 */
export function commitmentWindowAt(
  instant: InstantMs,
  duration: BillingPeriod | null,
  terms: PeriodTerms,
): Interval {
  const period = periodContaining(terms, instant) ?? gridPeriodAt(terms, instant);
  if (duration === null || !isLonger(duration, terms)) return period;
  const grid = {
    timezone: terms.timezone,
    billingCycle: 'anniversary' as const,
    billingAnchorMs: terms.trialEndMs ?? terms.startMs,
    billingPeriod: duration,
    billingPeriodCount: 1,
  };
  return gridPeriodAt(grid, period.startMs);
}

/**
 * Whether a period is the last one of a commitment window, in which a true-up falls due: it ends
 * with the window, after it, or with the subscription (domain.md 11.2).
 */
export function isLastOf(window: Interval, period: Interval, terms: PeriodTerms): boolean {
  return period.endMs >= Math.min(window.endMs, lifeOf(terms).endMs);
}
