import { DAY_MS, dateOfDayNumber, dayNumberOf, daysInMonth } from '../usage-oracle/calendar.js';
import { instantOf, localOf } from './local-time.js';

export const BILLING_PERIODS = [
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ANNUAL',
] as const;
export type BillingPeriod = (typeof BILLING_PERIODS)[number];

/** `count` billing periods in a row. */
export type Length = { readonly period: BillingPeriod; readonly count: number };

const DAYS: Partial<Record<BillingPeriod, number>> = { DAILY: 1, WEEKLY: 7 };
const MONTHS: Partial<Record<BillingPeriod, number>> = {
  MONTHLY: 1,
  QUARTERLY: 3,
  HALF_YEARLY: 6,
  ANNUAL: 12,
};

/** Null for lengths in days or weeks. */
export function monthsOf({ period, count }: Length): number | null {
  const months = MONTHS[period];
  return months === undefined ? null : months * count;
}

function daysOf({ period, count }: Length): number {
  return (DAYS[period] ?? 0) * count;
}

function dayMovedByMonths(dayNumber: number, months: number): number {
  const { year, month, day } = dateOfDayNumber(dayNumber);
  const index = year * 12 + month - 1 + months;
  const [newYear, newMonth] = [Math.floor(index / 12), (index % 12) + 1];
  const newDay = Math.min(day, daysInMonth(newYear, newMonth));
  return dayNumberOf({ year: newYear, month: newMonth, day: newDay });
}

type Steps = { readonly length: Length; readonly times: number };

/** A local time, moved; days of the month are clamped to short months (docs/domain.md 12.3). */
export function movedLocal(local: number, { length, times }: Steps): number {
  const day = Math.floor(local / DAY_MS);
  const months = monthsOf(length);
  const newDay =
    months === null ? day + daysOf(length) * times : dayMovedByMonths(day, months * times);
  return newDay * DAY_MS + (local - day * DAY_MS);
}

/**
 * `from` moved by `times` lengths in local wall-clock time (docs/domain.md 12.2, 12.5). Moved by
 * none it is itself, whatever its clock shows.
 */
export function advance(zone: string, from: number, steps: Steps): number {
  if (steps.times === 0) return from;
  return instantOf(zone, movedLocal(localOf(zone, from), steps));
}

/** Boundaries `anchor advanced by k lengths` for every whole k. */
export type Grid = {
  readonly zone: string;
  readonly anchor: number;
  /** Local time from which steps are counted. */
  readonly anchorLocal: number;
  readonly length: Length;
};

/** `b_k`: the anchor moved by k lengths. */
export function boundaryOf({ zone, anchor, anchorLocal, length }: Grid, times: number): number {
  return times === 0 ? anchor : instantOf(zone, movedLocal(anchorLocal, { length, times }));
}

/**
 * The last boundary that is not after the instant, and the one that follows it; `times` is the k of
 * the first of the two.
 */
export function gridPeriodAt(grid: Grid, instant: number) {
  const longestDays = 31 * (monthsOf(grid.length) ?? 0) + daysOf(grid.length);
  let times = Math.trunc((instant - grid.anchor) / (longestDays * DAY_MS));
  while (boundaryOf(grid, times) > instant) times -= 1;
  while (boundaryOf(grid, times + 1) <= instant) times += 1;
  return { times, start: boundaryOf(grid, times), end: boundaryOf(grid, times + 1) };
}

/**
 * How many of the shorter lengths are one of the longer, of the same base unit (docs/domain.md
 * 9.4); null when it is no whole number of them.
 */
export function timesLonger(longer: Length, shorter: Length): number | null {
  const [months, otherMonths] = [monthsOf(longer), monthsOf(shorter)];
  const isSameUnit =
    months === null || otherMonths === null
      ? longer.period === shorter.period
      : months % otherMonths === 0;
  if (!isSameUnit) return null;
  const times = (months ?? longer.count) / (otherMonths ?? shorter.count);
  return Number.isInteger(times) ? times : null;
}
