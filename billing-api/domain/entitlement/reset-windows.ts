import type { Interval } from '../../../contract/instant.js';
import { onePeriod, wholePeriodsIn } from '../calendar/billing-length.js';
import { gridPeriodAt, lifeOf, periodContaining } from '../calendar/billing-periods.js';
import { windowsIn } from '../calendar/usage-windows.js';
import type { BillingPeriod, PeriodTerms } from '../calendar/billing-grid.js';
import type { UsageResetPeriod } from './entitlement.js';

function isBillingPeriod(period: BillingPeriod, terms: PeriodTerms): boolean {
  return wholePeriodsIn(onePeriod(period), terms) === 1;
}

/** The consecutive periods from the start of an interval to its end. */
function periodsIn(
  interval: Interval,
  periodAt: (instant: number) => Interval | null,
): readonly Interval[] {
  const periods: Interval[] = [];
  let instant = interval.startMs;
  while (instant < interval.endMs) {
    const period = periodAt(instant);
    if (period === null) break;
    periods.push(period);
    instant = period.endMs;
  }
  return periods;
}

/**
 * The reset windows of an allowance that overlap an interval of the subscription's life, uncut and
 * in the order of time (docs/domain.md 10.2). DAILY windows are local dates; WEEKLY to ANNUAL
 * windows are counted from the billing anchor and keep its time of day. Without a reset period, or
 * with the billing period, they are the billing periods as they would be without threshold
 * invoices.
 */
export function resetWindowsIn(
  interval: Interval,
  resetPeriod: UsageResetPeriod | null,
  terms: PeriodTerms,
): readonly Interval[] {
  if (resetPeriod === 'NEVER') return [lifeOf(terms)];
  if (resetPeriod === null || isBillingPeriod(resetPeriod, terms)) {
    return periodsIn(interval, (instant) => periodContaining(terms, instant));
  }
  const { timezone } = terms;
  if (resetPeriod === 'DAILY') {
    return windowsIn(interval, { size: 'DAY', timezone, anchorMs: null });
  }
  const grid = { ...terms, billingPeriod: resetPeriod, billingPeriodCount: 1 };
  return periodsIn(interval, (instant) => gridPeriodAt(grid, instant));
}
