import { Temporal } from 'temporal-polyfill';
import type { InstantMs, Interval } from '../../../contract/instant.js';

/** The only file that converts between instants and local dates. */

/** A wall-clock date and time without a zone. */
export type LocalDateTime = Temporal.PlainDateTime;

/** Units by which `moveLocal` moves a local time. */
export type LocalUnit = 'hours' | 'days' | 'months';

/** Parses a local time such as `2001-01-01T00:00`. */
export function localDateTime(text: string): LocalDateTime {
  return Temporal.PlainDateTime.from(text);
}

const IANA_NAME = /^[A-Za-z]/;

/**
 * The canonical IANA name of a time zone; null when the text names no zone. An offset such as
 * `+02:00` is not a name.
 */
export function timezoneNamed(text: string): string | null {
  if (!IANA_NAME.test(text)) return null;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function zoned(instant: InstantMs, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timezone);
}

/** What the wall clock shows at an instant. */
export function localDateTimeAt(instant: InstantMs, timezone: string): LocalDateTime {
  return zoned(instant, timezone).toPlainDateTime();
}

/** What the wall clock shows at an instant, with the UTC offset: `2026-10-25T02:00:00+01:00`. */
export function localText(instant: InstantMs, timezone: string): string {
  return zoned(instant, timezone).toString({ timeZoneName: 'never' });
}

/** The local date as people read it, with the time unless it is midnight: `2026-10-25 14:30`. */
export function localDateText(instant: InstantMs, timezone: string): string {
  const local = localDateTimeAt(instant, timezone);
  const date = local.toPlainDate().toString();
  const time = local.toPlainTime().toString({ smallestUnit: 'minute' });
  return time === '00:00' ? date : `${date} ${time}`;
}

/**
 * The instant of a local date and time (docs/domain.md 12.5): one that does not exist moves forward
 * by the length of the gap, a repeated one is its first occurrence.
 */
export function instantOfLocal(local: LocalDateTime, timezone: string): InstantMs {
  return local.toZonedDateTime(timezone, { disambiguation: 'compatible' }).epochMilliseconds;
}

/**
 * The first instant from which the wall clock shows the given time or a later one for good. For a
 * time that a clock change skips, that is the clock change. For a repeated time it is the first
 * occurrence, or the second one if the clock was set back to before the time. In America/St_Johns
 * until 2011, 00:01 became 23:01: the old date was shown again and ends at the second midnight.
 */
export function lastingInstantOfLocal(local: LocalDateTime, timezone: string): InstantMs {
  const first = instantOfLocal(local, timezone);
  if (!localDateTimeAt(first, timezone).equals(local)) return stretchAt(first, timezone).startMs;
  const second = local.toZonedDateTime(timezone, { disambiguation: 'later' }).epochMilliseconds;
  if (second === first) return first;
  const shownAgain = localDateTimeAt(stretchAt(first, timezone).endMs, timezone);
  return Temporal.PlainDateTime.compare(shownAgain, local) < 0 ? second : first;
}

/** 00:00 of the day that a local time belongs to. */
export function midnightOf(local: LocalDateTime): LocalDateTime {
  return local.withPlainTime();
}

/**
 * A local time moved by whole hours of the wall clock, days or months. Months keep the day of the
 * month, clamped to the last day of a short month (docs/domain.md 12.3); so always move the anchor,
 * and never a result that may have been clamped.
 */
export function moveLocal(local: LocalDateTime, unit: LocalUnit, amount: number): LocalDateTime {
  return local.add({ [unit]: amount });
}

/** The instant some days later at the same local time (docs/domain.md 12.5). */
export function daysAfter(instant: InstantMs, days: number, timezone: string): InstantMs {
  const moved = moveLocal(localDateTimeAt(instant, timezone), 'days', days);
  return instantOfLocal(moved, timezone);
}

/**
 * 00:00 of the given day of the next month, or of its last day in a shorter month. Both local times
 * are milliseconds as if they were UTC, which is fast enough for thousands of months.
 */
export function dayOfNextMonth(localMs: number, day: number): number {
  const local = new Date(localMs);
  const [year, next] = [local.getUTCFullYear(), local.getUTCMonth() + 1];
  const lastDay = new Date(Date.UTC(year, next + 1, 0)).getUTCDate();
  return Date.UTC(year, next, Math.min(day, lastDay));
}

/** Calendar months from one local date to another, ignoring the day of the month. */
export function monthsBetween(from: LocalDateTime, to: LocalDateTime): number {
  return (to.year - from.year) * 12 + to.month - from.month;
}

/** Calendar days from one local date to another, ignoring the time of day. */
export function daysBetween(from: LocalDateTime, to: LocalDateTime): number {
  return from.toPlainDate().until(to.toPlainDate(), { largestUnit: 'days' }).days;
}

/** An interval in which a time zone keeps one UTC offset. */
export type OffsetStretch = Interval & { readonly offsetMs: number };

/** Bounds of the last interval of a zone without further clock changes, beyond any invoice. */
const BEGINNING_MS: InstantMs = -8_000_000_000_000_000;
const END_MS: InstantMs = 8_000_000_000_000_000;

/** The interval of constant UTC offset that contains an instant. */
export function stretchAt(instant: InstantMs, timezone: string): OffsetStretch {
  const local = zoned(instant, timezone);
  const next = local.getTimeZoneTransition('next');
  // The search excludes the instant that it starts from. Starting one millisecond later finds a
  // change at `instant` itself, which begins the interval.
  const previous = zoned(instant + 1, timezone).getTimeZoneTransition('previous');
  return {
    startMs: previous?.epochMilliseconds ?? BEGINNING_MS,
    endMs: next?.epochMilliseconds ?? END_MS,
    offsetMs: local.offsetNanoseconds / 1_000_000,
  };
}
