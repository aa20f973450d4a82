/**
 * Milliseconds since 1970-01-01T00:00:00Z; an integer. Every instant inside the product has this
 * form.
 */
export type InstantMs = number;

/** Half-open `[startMs, endMs)`. */
export type Interval = { readonly startMs: InstantMs; readonly endMs: InstantMs };

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(Z|z|[+-]\d{2}(?::?\d{2})?)$/;

/** Days of a month (1-12) of the proleptic Gregorian calendar. */
function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function offsetMinutesOf(text: string): number | null {
  if (text === 'Z' || text === 'z') return 0;
  const digits = text.slice(1).replace(':', '');
  const hours = Number(digits.slice(0, 2));
  const minutes = digits.length > 2 ? Number(digits.slice(2)) : 0;
  if (hours > 23 || minutes > 59) return null;
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

type CivilTime = {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
};

function existsOnTheCalendar(civil: CivilTime): boolean {
  const isDate =
    civil.month >= 1 &&
    civil.month <= 12 &&
    civil.day >= 1 &&
    civil.day <= daysInMonth(civil.year, civil.month);
  return isDate && civil.hour <= 23 && civil.minute <= 59 && civil.second <= 59;
}

/** The decimal digit at an index; NaN for anything else, which spoils every sum it enters. */
function digitAt(text: string, index: number): number {
  const digit = text.charCodeAt(index) - 48;
  return digit >= 0 && digit <= 9 ? digit : NaN;
}

function twoDigitsAt(text: string, index: number): number {
  return digitAt(text, index) * 10 + digitAt(text, index + 1);
}

/** Whether the text has the punctuation of `2026-01-31T23:30:00Z` or `2026-01-31T23:30:00.123Z`. */
function hasCommonForm(text: string): boolean {
  return (
    (text.length === 24 ? text.charAt(19) === '.' : text.length === 20) &&
    text.endsWith('Z') &&
    text.charAt(4) === '-' &&
    text.charAt(7) === '-' &&
    text.charAt(10) === 'T' &&
    text.charAt(13) === ':' &&
    text.charAt(16) === ':'
  );
}

/**
 * The instant of a text in the common form, null for every other text. Four times as fast as the
 * general way, and it is on the path of every event.
 */
function commonInstant(text: string): InstantMs | null {
  if (!hasCommonForm(text)) return null;
  const civil: CivilTime = {
    year: twoDigitsAt(text, 0) * 100 + twoDigitsAt(text, 2),
    month: twoDigitsAt(text, 5),
    day: twoDigitsAt(text, 8),
    hour: twoDigitsAt(text, 11),
    minute: twoDigitsAt(text, 14),
    second: twoDigitsAt(text, 17),
  };
  // Date.UTC takes years below 100 for years after 1900. A missing digit makes the sum NaN.
  if (!(civil.year >= 100) || !existsOnTheCalendar(civil)) return null;
  const milliseconds = text.length === 24 ? digitAt(text, 20) * 100 + twoDigitsAt(text, 21) : 0;
  const { year, month, day, hour, minute, second } = civil;
  const instant = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  return Number.isNaN(instant) ? null : instant;
}

/**
 * Reads an ISO 8601 date-time with an offset or `Z` (docs/domain.md 3.1); digits finer than a
 * millisecond are cut off (docs/domain.md 1). `null` for any other text, for a date that does not
 * exist and for 24:00 and leap seconds.
 */
export function parseInstant(text: string): InstantMs | null {
  return commonInstant(text) ?? generalInstant(text);
}

function generalInstant(text: string): InstantMs | null {
  const match = text.length <= 64 ? DATE_TIME.exec(text) : null;
  if (match === null) return null;
  const part = (index: number): number => Number(match[index] ?? '0');
  const civil: CivilTime = {
    year: part(1),
    month: part(2),
    day: part(3),
    hour: part(4),
    minute: part(5),
    second: part(6),
  };
  const offsetMinutes = offsetMinutesOf(match[8] ?? 'Z');
  if (!existsOnTheCalendar(civil) || offsetMinutes === null) return null;
  const date = new Date(0);
  date.setUTCFullYear(civil.year, civil.month - 1, civil.day);
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  date.setUTCHours(civil.hour, civil.minute, civil.second, milliseconds);
  return date.getTime() - offsetMinutes * MINUTE_MS;
}

/** `2025-01-31T23:30:00.000Z`: the wire form of every instant. */
export function formatInstant(instant: InstantMs): string {
  return new Date(instant).toISOString();
}

/** The start of the UTC minute that contains the instant; correct before 1970 too. */
export function minuteOf(instant: InstantMs): InstantMs {
  return Math.floor(instant / MINUTE_MS) * MINUTE_MS;
}
