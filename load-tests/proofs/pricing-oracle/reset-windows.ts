import { DAY_MS } from '../usage-oracle/calendar.js';
import type { Range } from '../usage-oracle/windows.js';
import { gridPeriodAt, monthsOf, type Length } from './billing-grid.js';
import { gridOf, periodsUntil } from './billing-periods.js';
import { instantOf, localOf } from './local-time.js';
import type { EntitlementSource, Subscription } from './subscription.js';

function localDaysIn(zone: string, { start, end }: Range): readonly Range[] {
  const days: Range[] = [];
  let day = Math.floor(localOf(zone, start) / DAY_MS);
  for (let at = start; at < end;) {
    day += 1;
    const next = instantOf(zone, day * DAY_MS);
    days.push({ start: instantOf(zone, (day - 1) * DAY_MS), end: next });
    at = next;
  }
  return days;
}

function isSameLength(left: Length, right: Length): boolean {
  const [months, otherMonths] = [monthsOf(left), monthsOf(right)];
  if (months !== null || otherMonths !== null) return months === otherMonths;
  const daysOf = ({ period, count }: Length): number => (period === 'WEEKLY' ? 7 : 1) * count;
  return daysOf(left) === daysOf(right);
}

/**
 * The reset windows that meet a usage window (docs/domain.md 10.2), in time order. The first is cut
 * at the start of the subscription: usage before it does not count.
 */
export function resetWindowsOf(
  subscription: Subscription,
  reset: EntitlementSource['reset'],
  window: Range,
): readonly Range[] {
  const { zone, start, length } = subscription;
  const meets = (range: Range): boolean => range.start < window.end && range.end > window.start;
  if (reset === 'NEVER') return [{ start, end: window.end }];
  if (reset === null || isSameLength({ period: reset, count: 1 }, length)) {
    return periodsUntil(subscription, length, window.end).filter(meets);
  }
  const fromStart = (range: Range): Range => ({ ...range, start: Math.max(range.start, start) });
  if (reset === 'DAILY') return localDaysIn(zone, window).filter(meets).map(fromStart);
  const grid = gridOf(subscription, { period: reset, count: 1 });
  const windows: Range[] = [];
  for (let at = window.start; at < window.end;) {
    const next = gridPeriodAt(grid, at);
    windows.push(fromStart(next));
    at = next.end;
  }
  return windows;
}
