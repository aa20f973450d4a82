import { DAY_MS } from './calendar.js';

/** A stretch of time `[start, end)` in which the zone keeps one offset, in milliseconds. */
export type OffsetRun = { readonly start: number; readonly end: number; readonly offset: number };

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, format);
  return format;
}

function readOffset(zone: string, instant: number): number {
  const second = Math.floor(instant / 1000) * 1000;
  const parts = formatOf(zone).formatToParts(second);
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value);
  const date = Date.UTC(part('year'), part('month') - 1, part('day'));
  return date + ((part('hour') * 60 + part('minute')) * 60 + part('second')) * 1000 - second;
}

const HOUR_MS = 3_600_000;
const offsetsOfHours = new Map<string, Map<number, number>>();

/** The offset at a full hour of UTC; asking the calendar is slow, so it is kept. */
function offsetOfHour(zone: string, hour: number): number {
  const hours = offsetsOfHours.get(zone) ?? new Map<number, number>();
  offsetsOfHours.set(zone, hours);
  const offset = hours.get(hour) ?? readOffset(zone, hour * HOUR_MS);
  hours.set(hour, offset);
  return offset;
}

/**
 * Local wall-clock time less UTC, in milliseconds. No zone changes twice within a day of UTC, so
 * what is the same at both ends of it, or of an hour, is the same between them.
 * @throws RangeError when the zone is unknown.
 */
export function offsetAt(zone: string, instant: number): number {
  for (const hours of [24, 1]) {
    const from = Math.floor(instant / (hours * HOUR_MS)) * hours;
    const offset = offsetOfHour(zone, from);
    if (offset === offsetOfHour(zone, from + hours)) return offset;
  }
  return readOffset(zone, instant);
}

/** The first instant of `(from, to]` at which the offset is no longer that of `from`. */
function changeBetween(zone: string, from: number, to: number): number {
  const before = offsetAt(zone, from);
  let [same, other] = [from, to];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(zone, middle) === before) same = middle;
    else other = middle;
  }
  return other;
}

/** The runs of `[start, end)`, in order. No zone changes twice within the 24 hours of a step. */
export function offsetRuns(
  zone: string,
  { start, end }: { readonly start: number; readonly end: number },
): readonly OffsetRun[] {
  const runs: OffsetRun[] = [];
  let runStart = start;
  for (let at = start; at < end;) {
    const next = Math.min(at + DAY_MS, end);
    if (offsetAt(zone, next) !== offsetAt(zone, at)) {
      const change = changeBetween(zone, at, next);
      runs.push({ start: runStart, end: change, offset: offsetAt(zone, at) });
      runStart = change;
    }
    at = next;
  }
  if (runStart < end) runs.push({ start: runStart, end, offset: offsetAt(zone, runStart) });
  return runs;
}
