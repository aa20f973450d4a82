import type { InstantMs, Interval } from '../../../contract/instant.js';
import { boundaryAt, boundaryIndexAt } from '../calendar/billing-boundaries.js';
import { overlapOf } from '../calendar/interval.js';
import { anchorAfter, isOver, rowFrom } from './ledger-rows.js';
import { gridFrom, lastRecorded, type LedgerPeriod, type PeriodLedger } from './period-ledger.js';

/** Questions to a ledger (docs/domain.md 12.10). */

/** The row that renewals would append for an instant after the last recorded row. */
function projectedRow(ledger: PeriodLedger, instant: InstantMs): LedgerPeriod | null {
  if (isOver(ledger) || (ledger.endMs !== null && instant >= ledger.endMs)) return null;
  const last = lastRecorded(ledger);
  const anchor = anchorAfter(ledger);
  const first = rowFrom(ledger, { index: last.index + 1, startMs: last.endMs, anchor });
  if (instant < first.endMs) return first;
  if (first.kind === 'last') return null;
  const grid = gridFrom(ledger, anchor);
  const step = boundaryIndexAt(grid, instant);
  const index = first.index + anchor.number + step - first.gridNumber;
  return rowFrom(ledger, { index, startMs: boundaryAt(grid, step), anchor });
}

/** The row that contains an instant; null before the start of the subscription and from its end. */
export function periodAt(ledger: PeriodLedger, instant: InstantMs): LedgerPeriod | null {
  const { periods } = ledger;
  if (instant < periods[0].startMs) return null;
  if (instant >= lastRecorded(ledger).endMs) return projectedRow(ledger, instant);
  return periods.findLast(({ startMs }) => startMs <= instant) ?? null;
}

/** The row that begins at an instant; null when none does. */
export function periodFrom(ledger: PeriodLedger, startMs: InstantMs): LedgerPeriod | null {
  const period = periodAt(ledger, startMs);
  return period?.startMs === startMs ? period : null;
}

/**
 * The row that contains an instant, as if no threshold invoice had split it; with the pauses of all
 * its parts.
 */
export function unsplitPeriodAt(ledger: PeriodLedger, instant: InstantMs): LedgerPeriod | null {
  const row = periodAt(ledger, instant);
  const { periods } = ledger;
  if (row === null || row.index >= periods.length) return row;
  let [first, last] = [row.index, row.index];
  while (periods[first - 1]?.kind === 'threshold') first -= 1;
  while (periods[last]?.kind === 'threshold') last += 1;
  const parts = periods.slice(first, last + 1);
  const [from, to] = [parts[0] ?? row, parts.at(-1) ?? row];
  const pauses = parts.flatMap((part) => part.pauses);
  return { ...to, startMs: from.startMs, pauses };
}

/** Where billing begins: the start, or the end of the trial. */
export function billedFromMs({ periods }: PeriodLedger): InstantMs {
  const trial = periods.findLast(({ kind }) => kind === 'trial');
  return trial?.endMs ?? periods[0].startMs;
}

/**
 * The time in which a subscription exists, `Infinity` while it has no end. A ONETIME subscription
 * ends with its only billed period (docs/domain.md 12.8).
 */
export function lifeOf(ledger: PeriodLedger): Interval {
  const { periods, endMs, billingCadence } = ledger;
  const end = endMs ?? Infinity;
  if (billingCadence === 'RECURRING') return { startMs: periods[0].startMs, endMs: end };
  const only = periodAt(ledger, billedFromMs(ledger));
  return { startMs: periods[0].startMs, endMs: Math.min(only?.endMs ?? end, end) };
}

/** The row that contains `now`; before the start the first one, after the end the last one. */
export function currentPeriod(ledger: PeriodLedger, now: InstantMs): LedgerPeriod {
  const life = lifeOf(ledger);
  const instant = Math.min(Math.max(now, life.startMs), life.endMs - 1);
  return periodAt(ledger, instant) ?? lastRecorded(ledger);
}

/** The anchor that the row of an instant was made under. */
export function anchorMsAt(ledger: PeriodLedger, instant: InstantMs): InstantMs {
  return currentPeriod(ledger, instant).anchor.atMs;
}

/** The length of an interval without the pauses in it, in milliseconds. */
export function unpausedMs(interval: Interval, pauses: readonly Interval[]): number {
  let ms = interval.endMs - interval.startMs;
  for (const pause of pauses) {
    const part = overlapOf(pause, interval);
    if (part !== null) ms -= part.endMs - part.startMs;
  }
  return ms;
}
