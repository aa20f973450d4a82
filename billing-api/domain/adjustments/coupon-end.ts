import type { InstantMs } from '../../../contract/instant.js';
import { boundaryAt } from '../calendar/billing-boundaries.js';
import { billingLengthOf } from '../calendar/billing-length.js';
import type { BillingGrid } from '../calendar/billing-grid.js';

/** No calendar of ours reaches further; stores hold less, too. */
const END_OF_TIME = Date.UTC(2300, 0, 1);

/** More than 300 years in each unit: beyond them the calendar need not be asked. */
const STEPS_MAX = { day: 366 * 400, week: 53 * 400, month: 12 * 400 } as const;

/**
 * When a `repeated` coupon ends (docs/domain.md 14.1): its start advanced by this many billing
 * periods, with the clamping of docs/domain.md 12.3. Null, no end, from the year 2300 on: the
 * number of its applications still limits it.
 */
export function repeatedCouponEnd(
  every: Pick<BillingGrid, 'billingPeriod' | 'billingPeriodCount' | 'timezone'>,
  startMs: InstantMs,
  periods: number,
): InstantMs | null {
  const { unit, count } = billingLengthOf(every);
  if (count * periods > STEPS_MAX[unit]) return null;
  const { billingPeriod, billingPeriodCount, timezone } = every;
  const grid: BillingGrid = {
    billingPeriod,
    billingPeriodCount,
    timezone,
    billingCycle: 'anniversary',
    billingAnchorMs: startMs,
  };
  const end = boundaryAt(grid, periods);
  return end < END_OF_TIME ? end : null;
}
