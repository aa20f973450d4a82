import { DAY_MS, dateOfDayNumber, weekdayOf } from '../usage-oracle/calendar.js';
import type { Range } from '../usage-oracle/windows.js';
import { gridPeriodAt, type BillingPeriod, type Grid, type Length } from './billing-grid.js';
import { instantOf, localOf } from './local-time.js';
import type { Subscription } from './subscription.js';

function isCalendarBoundary(period: BillingPeriod, dayNumber: number): boolean {
  const { month, day } = dateOfDayNumber(dayNumber);
  switch (period) {
    case 'DAILY':
      return true;
    case 'WEEKLY':
      return weekdayOf(dayNumber) === 1;
    case 'MONTHLY':
      return day === 1;
    case 'QUARTERLY':
      return day === 1 && month % 3 === 1;
    case 'HALF_YEARLY':
      return day === 1 && month % 6 === 1;
    case 'ANNUAL':
      return day === 1 && month === 1;
  }
}

/** The instant from which all boundaries are counted (docs/domain.md 12.1). */
export function anchorOf({ cycle, givenAnchor, start, zone, length }: Subscription): number {
  if (cycle === 'anniversary') return givenAnchor ?? start;
  for (let day = Math.floor(localOf(zone, start) / DAY_MS); ; day += 1) {
    if (!isCalendarBoundary(length.period, day)) continue;
    const midnight = instantOf(zone, day * DAY_MS);
    if (midnight > start) return midnight;
  }
}

/**
 * The boundaries of periods of a length. Those of a calendar cycle are midnights, also where the
 * clock skips the midnight of the anchor.
 */
export function gridOf(subscription: Subscription, length: Length): Grid {
  const { zone, cycle } = subscription;
  const anchor = anchorOf(subscription);
  const local = localOf(zone, anchor);
  const anchorLocal = cycle === 'calendar' ? Math.floor(local / DAY_MS) * DAY_MS : local;
  return { zone, anchor, anchorLocal, length };
}

/** A period of the subscription, or of an item whose periods are longer. */
export type OwnPeriod = Range & {
  /** What a full charge is for (docs/domain.md 13.4). */
  readonly full: Range;
};

/**
 * The periods of a length from the subscription's start on, as far as they start before `until`
 * and the subscription exists: the first may be short, the last ends at `end_date` (docs/domain.md
 * 12.4). A short first period is full in itself unless prorations are created.
 */
export function periodsUntil(
  subscription: Subscription,
  length: Length,
  until: number,
): readonly OwnPeriod[] {
  const { start, end, proration } = subscription;
  const grid = gridOf(subscription, length);
  const stop = Math.min(until, end ?? until);
  const periods: OwnPeriod[] = [];
  for (let at = start; at < stop;) {
    const onGrid = gridPeriodAt(grid, at);
    const full = proration === 'none' ? { start: at, end: onGrid.end } : onGrid;
    periods.push({ start: at, end: Math.min(onGrid.end, end ?? onGrid.end), full });
    at = onGrid.end;
  }
  return periods;
}
