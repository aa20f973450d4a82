import type { InstantMs, Interval } from '../../../contract/instant.js';
import { isLonger, onePeriod } from '../calendar/billing-length.js';
import { gridPeriodAt, lifeOf, periodContaining } from '../calendar/billing-periods.js';
import type { BillingPeriod, PeriodTerms } from '../calendar/billing-grid.js';

/**
 * The commitment window for an instant (docs/domain.md 11.2): the billing period that contains it,
 * as it would be without threshold invoices; or, if the commitment lasts longer, the window of that
 * duration that contains the start of the billing period. Longer windows are counted from the start
 * of the subscription, or from the end of its trial, and clamped to short months.
 */
export function commitmentWindowAt(
  instant: InstantMs,
  duration: BillingPeriod | null,
  terms: PeriodTerms,
): Interval {
  const period = periodContaining(terms, instant) ?? gridPeriodAt(terms, instant);
  if (duration === null || !isLonger(onePeriod(duration), terms)) return period;
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
 * Whether a period is the last of a commitment window, so that a true-up is due: it ends with or
 * after the window, or with the subscription (docs/domain.md 11.2).
 */
export function isLastOf(window: Interval, period: Interval, terms: PeriodTerms): boolean {
  return period.endMs >= Math.min(window.endMs, lifeOf(terms).endMs);
}
