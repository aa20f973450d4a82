import { DAY_MS, dateOfDayNumber, weekdayOf } from '../usage-oracle/calendar.js';
import type { BillingPeriod, Grid, Length } from './billing-grid.js';
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

function calendarBoundaryAfter({ zone, length }: Subscription, instant: number): number {
  for (let day = Math.floor(localOf(zone, instant) / DAY_MS); ; day += 1) {
    if (!isCalendarBoundary(length.period, day)) continue;
    const midnight = instantOf(zone, day * DAY_MS);
    if (midnight > instant) return midnight;
  }
}

/** The instant from which the first boundaries are counted (docs/domain.md 12.1). */
export function firstAnchorOf(subscription: Subscription): number {
  const { cycle, givenAnchor, start } = subscription;
  return cycle === 'anniversary'
    ? (givenAnchor ?? start)
    : calendarBoundaryAfter(subscription, start);
}

/** The anchor from the end of a trial on (docs/domain.md 12.10). */
export function anchorAfterTrial(subscription: Subscription, trialEnd: number): number {
  return subscription.cycle === 'anniversary'
    ? trialEnd
    : calendarBoundaryAfter(subscription, trialEnd);
}

/**
 * The boundaries of periods of a length. Those of a calendar cycle are midnights, also where the
 * clock skips the midnight of the anchor.
 */
export function gridOf({ zone, cycle }: Subscription, anchor: number, length: Length): Grid {
  const local = localOf(zone, anchor);
  const anchorLocal = cycle === 'calendar' ? Math.floor(local / DAY_MS) * DAY_MS : local;
  return { zone, anchor, anchorLocal, length };
}
