import { DAY_MS, dateOfDayNumber, monthStartOf, weekdayOf } from './calendar.js';
import type { WindowSize } from './meter.js';
import { offsetAt, offsetRuns } from './zone.js';

export type Range = { readonly start: number; readonly end: number };

/** How time is divided. `anchor` names the day of the month a MONTH begins at; null: the 1st. */
export type Division = {
  readonly size: WindowSize;
  readonly zone: string;
  readonly anchor: number | null;
};

const MINUTE_MS = 60_000;

/** Sizes up to HOUR: an occurrence of a slot at another offset is another bucket. */
const SLOTS_WITH_OFFSET: Partial<Record<WindowSize, number>> = {
  MINUTE: 1,
  '15MIN': 15,
  '30MIN': 30,
  HOUR: 60,
};
const SLOTS: Partial<Record<WindowSize, number>> = { '3HOUR': 180, '6HOUR': 360, '12HOUR': 720 };

/** Minutes of the sizes that divide a day into slots. */
export const SLOT_MINUTES: Partial<Record<WindowSize, number>> = { ...SLOTS_WITH_OFFSET, ...SLOTS };

/** The part of a division that contains a local time, and the local time of its next boundary. */
type Place = { readonly identity: string; readonly localEnd: number };

function placeOfSlot(local: number, minutes: number): { identity: string; localEnd: number } {
  const day = Math.floor(local / DAY_MS);
  const slotMs = minutes * MINUTE_MS;
  const slot = Math.floor((local - day * DAY_MS) / slotMs);
  return { identity: `${day} slot ${slot}`, localEnd: day * DAY_MS + (slot + 1) * slotMs };
}

/** Of the day itself, its week or its anchored month: the first day and the one after the last. */
function daysOf(day: number, size: WindowSize, anchorDay: number): readonly [number, number] {
  if (size === 'DAY') return [day, day + 1];
  if (size === 'WEEK') {
    const monday = day - weekdayOf(day) + 1;
    return [monday, monday + 7];
  }
  const first = monthStartOf(day, anchorDay);
  let next = first + 1;
  while (monthStartOf(next, anchorDay) === first) next += 1;
  return [first, next];
}

/** Bucket identity of docs/domain.md 7.8. */
function placeOf(division: Division, local: number, offset: number): Place {
  const { size, zone, anchor } = division;
  const minutesWithOffset = SLOTS_WITH_OFFSET[size];
  if (minutesWithOffset !== undefined) {
    const place = placeOfSlot(local, minutesWithOffset);
    return { ...place, identity: `${place.identity} offset ${offset}` };
  }
  const minutes = SLOTS[size];
  if (minutes !== undefined) return placeOfSlot(local, minutes);
  const anchorDay = anchor === null ? 1 : localDayOfMonth(zone, anchor);
  const [first, next] = daysOf(Math.floor(local / DAY_MS), size, anchorDay);
  return { identity: `from day ${first}`, localEnd: next * DAY_MS };
}

function localDayOfMonth(zone: string, instant: number): number {
  return dateOfDayNumber(Math.floor((instant + offsetAt(zone, instant)) / DAY_MS)).day;
}

/** The identity of the bucket of an instant. */
export function bucketAt(division: Division, instant: number): string {
  const offset = offsetAt(division.zone, instant);
  return placeOf(division, instant + offset, offset).identity;
}

/** A window of a division: the stretches of the range that bear its identity. */
export type Window = {
  readonly identity: string;
  /** In order; more than one only where the clock goes back over a boundary. */
  readonly parts: readonly Range[];
};

/**
 * Every window that has a part in the range, in the order of first instants, cut to the range. A
 * local time that does not exist has no window.
 */
export function windowsOf(division: Division, range: Range): readonly Window[] {
  const parts = new Map<string, Range[]>();
  for (const run of offsetRuns(division.zone, range)) {
    for (let at = run.start; at < run.end;) {
      const { identity, localEnd } = placeOf(division, at + run.offset, run.offset);
      const end = Math.min(localEnd - run.offset, run.end);
      const known = parts.get(identity) ?? [];
      const last = known.at(-1);
      // Two runs of one window that meet are one stretch.
      if (last?.end === at) known[known.length - 1] = { start: last.start, end };
      else known.push({ start: at, end });
      parts.set(identity, known);
      at = end;
    }
  }
  return [...parts].map(([identity, stretches]) => ({ identity, parts: stretches }));
}
