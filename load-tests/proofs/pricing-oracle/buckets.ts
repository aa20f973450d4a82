import { DAY_MS } from '../usage-oracle/calendar.js';
import type { WindowSize } from '../usage-oracle/meter.js';
import { SLOT_MINUTES, windowsOf, type Division, type Range } from '../usage-oracle/windows.js';
import { localOf } from './local-time.js';

/** A bucket of a meter as far as a usage window covers it. */
export type Bucket = {
  readonly identity: string;
  /** The parts inside of the usage window, in order. */
  readonly parts: readonly Range[];
  /** The first instant inside of the usage window. */
  readonly start: number;
  readonly coveredMs: number;
  /** Length of the whole bucket, with the hour that a clock change adds to it or takes away. */
  readonly fullMs: number;
  /** Local time at which its slot starts by the clock, in minutes since 00:00. */
  readonly slotMinute: number;
};

const LONGER_THAN_ANY_DAYS: Partial<Record<WindowSize, number>> = { WEEK: 9, MONTH: 33 };

function lengthOf(parts: readonly Range[]): number {
  return parts.reduce((total, { start, end }) => total + end - start, 0);
}

/** Slots are counted from 00:00 of the local day, so the slot of the first instant is the slot. */
function slotMinuteOf({ size, zone }: Division, firstInstant: number): number {
  const slotMinutes = SLOT_MINUTES[size] ?? 24 * 60;
  const local = localOf(zone, firstInstant);
  const minute = Math.floor((local - Math.floor(local / DAY_MS) * DAY_MS) / 60_000);
  return Math.floor(minute / slotMinutes) * slotMinutes;
}

function bucketsCut(division: Division, window: Range): readonly Bucket[] {
  const margin = (LONGER_THAN_ANY_DAYS[division.size] ?? 2) * DAY_MS;
  const wider = { start: window.start - margin, end: window.end + margin };
  return windowsOf(division, wider).flatMap(({ identity, parts: whole }) => {
    const parts = whole
      .map(({ start, end }) => ({
        start: Math.max(start, window.start),
        end: Math.min(end, window.end),
      }))
      .filter(({ start, end }) => start < end);
    const [first] = parts;
    const [wholeFirst] = whole;
    if (first === undefined || wholeFirst === undefined) return [];
    return [
      {
        identity,
        parts,
        start: first.start,
        coveredMs: lengthOf(parts),
        fullMs: lengthOf(whole),
        slotMinute: slotMinuteOf(division, wholeFirst.start),
      },
    ];
  });
}

/** The same few windows are asked for again and again, by every item and every allowance. */
const known = new Map<string, readonly Bucket[]>();
const KNOWN_MAX = 200;

/** Every bucket that has a part in the usage window, in time order (docs/domain.md 7.8). */
export function bucketsIn(division: Division, window: Range): readonly Bucket[] {
  const { size, zone, anchor } = division;
  const key = [size, zone, anchor, window.start, window.end].join(' ');
  const buckets = known.get(key) ?? bucketsCut(division, window);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(key, buckets);
  return buckets;
}
