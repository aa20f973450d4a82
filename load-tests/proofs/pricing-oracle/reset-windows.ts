import { DAY_MS } from '../usage-oracle/calendar.js';
import type { Range } from '../usage-oracle/windows.js';
import { gridOf } from './billing-anchor.js';
import { gridPeriodAt, timesLonger, type Length } from './billing-grid.js';
import { instantOf, localOf } from './local-time.js';
import { ownPeriodOf } from './own-periods.js';
import { firstBilledStart, rowsBefore, spanOf, unsplitRows } from './period-ledger.js';
import type { LedgerRow } from './period-ledger.js';
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

/** Each once: rows of one period follow each other. */
function withoutRepetitions(ranges: readonly Range[]): readonly Range[] {
  return ranges.filter(({ start }, index) => start !== ranges[index - 1]?.start);
}

/** Rows in a row with one anchor. */
function stretchesOf(rows: readonly LedgerRow[]): readonly (readonly LedgerRow[])[] {
  const stretches: LedgerRow[][] = [];
  for (const row of rows) {
    const last = stretches.at(-1);
    if (last?.[0]?.anchor === row.anchor) last.push(row);
    else stretches.push([row]);
  }
  return stretches;
}

/** Windows of a length that the billing periods say nothing about, anew from every anchor. */
function windowsFromAnchors(
  subscription: Subscription,
  length: Length,
  { rows, window }: { readonly rows: readonly LedgerRow[]; readonly window: Range },
): readonly Range[] {
  return stretchesOf(rows).flatMap((stretch) => {
    const { start, end } = spanOf(stretch);
    const [first] = stretch;
    if (first === undefined) return [];
    const grid = gridOf(subscription, first.anchor, length);
    const windows: Range[] = [];
    for (let at = Math.max(start, window.start); at < end;) {
      const next = gridPeriodAt(grid, at);
      windows.push({ start: Math.max(next.start, start), end: Math.min(next.end, end) });
      at = next.end;
    }
    return windows;
  });
}

/**
 * The reset windows that meet a usage window (docs/domain.md 10.2), in time order. None reaches
 * before the first billed period: usage before it does not count.
 */
export function resetWindowsOf(
  subscription: Subscription,
  reset: EntitlementSource['reset'],
  window: Range,
): readonly Range[] {
  const billedFrom = firstBilledStart(subscription);
  const meets = (range: Range): boolean => range.start < window.end && range.end > window.start;
  if (reset === 'NEVER') return [{ start: billedFrom, end: window.end }];
  const rows = rowsBefore(subscription, window.end).filter(({ kind }) => kind !== 'trial');
  const met = rows.filter(meets);
  const times = reset === null ? 1 : timesLonger({ period: reset, count: 1 }, subscription.length);
  if (times === 1) {
    return withoutRepetitions(met.map((row) => spanOf(unsplitRows(subscription, row))));
  }
  if (reset === 'DAILY') {
    const fromStart = (day: Range): Range => ({ ...day, start: Math.max(day.start, billedFrom) });
    return localDaysIn(subscription.zone, window).filter(meets).map(fromStart);
  }
  if (times !== null) {
    return withoutRepetitions(met.map((row) => ownPeriodOf(subscription, row, times)));
  }
  const length = { period: reset ?? subscription.length.period, count: 1 };
  return windowsFromAnchors(subscription, length, { rows, window }).filter(meets);
}
