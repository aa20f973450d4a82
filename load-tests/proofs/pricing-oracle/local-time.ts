import { DAY_MS } from '../usage-oracle/calendar.js';
import { offsetAt, offsetRuns } from '../usage-oracle/zone.js';

/** Wall-clock time of an instant, as milliseconds since 1970-01-01 00:00 by that clock. */
export function localOf(zone: string, instant: number): number {
  return instant + offsetAt(zone, instant);
}

/**
 * The instant at which clocks show a local time: the first of two; a time that does not exist
 * moves forward by the length of the gap (docs/domain.md 12.5).
 */
export function instantOf(zone: string, local: number): number {
  const runs = offsetRuns(zone, { start: local - 2 * DAY_MS, end: local + 2 * DAY_MS });
  let instant = 0;
  for (const { start, end, offset } of runs) {
    // Clocks of this stretch have not yet reached the time: it is in the gap before.
    if (start + offset > local) break;
    instant = local - offset;
    if (instant < end) break;
  }
  return instant;
}
