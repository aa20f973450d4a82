import type { InstantMs, Interval } from '../../../contract/instant.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../contract/instant.js';
import { cutTo } from './interval.js';
import type { LocalDateTime, OffsetStretch } from './local-time.js';
import {
  dayOfNextMonth,
  lastingInstantOfLocal,
  localDateTimeAt,
  midnightOf,
  moveLocal,
  stretchAt,
} from './local-time.js';

/** Sizes whose identity includes the UTC offset: a clock change ends the window. */
export type SlotSize = 'MINUTE' | '15MIN' | '30MIN' | 'HOUR';

/** Sizes counted by the wall clock: a clock change makes the window shorter or longer. */
export type WallClockSize = '3HOUR' | '6HOUR' | '12HOUR' | 'DAY' | 'WEEK' | 'MONTH';

/** Sizes of meter buckets and of the windows of usage answers (domain.md 2.1). */
export type WindowSize = SlotSize | WallClockSize;

/** How time is cut into windows (domain.md 7.8). */
export type WindowGrid = {
  readonly size: WindowSize;
  readonly timezone: string;
  /** Decides the day on which MONTH windows begin; null means the 1st. Other sizes ignore it. */
  readonly anchorMs: InstantMs | null;
};

const SLOT_MS: Readonly<Record<SlotSize, number>> = {
  MINUTE: MINUTE_MS,
  '15MIN': 15 * MINUTE_MS,
  '30MIN': 30 * MINUTE_MS,
  HOUR: HOUR_MS,
};

/** Lengths between clock changes. */
const WALL_CLOCK_MS: Readonly<Record<Exclude<WallClockSize, 'MONTH'>, number>> = {
  '3HOUR': 3 * HOUR_MS,
  '6HOUR': 6 * HOUR_MS,
  '12HOUR': 12 * HOUR_MS,
  DAY: DAY_MS,
  WEEK: 7 * DAY_MS,
};

const LONGEST_MONTH_MS = 31 * DAY_MS;

const LENGTH_MS: Readonly<Record<WindowSize, number>> = {
  ...SLOT_MS,
  ...WALL_CLOCK_MS,
  MONTH: LONGEST_MONTH_MS,
};

/** Minutes of a window that no clock change makes shorter or longer; the longest of a MONTH. */
export function windowMinutesOf(size: WindowSize): number {
  return LENGTH_MS[size] / MINUTE_MS;
}

/** The size whose windows are longer; the first when they are equal. */
export function coarserOf(left: WindowSize, right: WindowSize): WindowSize {
  return LENGTH_MS[right] > LENGTH_MS[left] ? right : left;
}

/**
 * No zone has been more than two days ahead of where it is at another time, so clock changes of a
 * whole range together stretch its windows by less.
 */
const CLOCK_CHANGES_MS = 2 * DAY_MS;

function isSlotSize(size: WindowSize): size is SlotSize {
  return Object.hasOwn(SLOT_MS, size);
}

/** How a size goes from window to window on the wall clock. */
type WallClock = {
  /** The start of the window that a local time belongs to. */
  readonly startOf: (local: LocalDateTime) => LocalDateTime;
  readonly next: (start: LocalDateTime) => LocalDateTime;
};

/**
 * The window that contains an instant. MINUTE to HOUR: (local date, slot of the day, UTC offset);
 * 3HOUR to 12HOUR: (local date, slot); DAY: local date; WEEK: from Monday; MONTH: from the anchor's
 * day of the month, clamped to short months (domain.md 7.8).
 */
export function windowAt(instant: InstantMs, grid: WindowGrid): Interval {
  const { size, timezone } = grid;
  if (!isSlotSize(size)) return wallClockWindowAt(instant, wallClockOf(size, grid), timezone);
  return slotIn(stretchAt(instant, timezone), instant, SLOT_MS[size]);
}

/** The slot of an instant, cut to the stretch of one UTC offset that it lies in. */
function slotIn(stretch: OffsetStretch, instant: InstantMs, slotMs: number): Interval {
  const { offsetMs } = stretch;
  const startMs = Math.floor((instant + offsetMs) / slotMs) * slotMs - offsetMs;
  return {
    startMs: Math.max(startMs, stretch.startMs),
    endMs: Math.min(startMs + slotMs, stretch.endMs),
  };
}

/**
 * Windows are single stretches of time that touch each other. Where the clock goes back over the
 * edge of two windows (America/St_Johns, 2010-11-07 00:01 became 23:01) the earlier one has two
 * stretches with a minute of the later one between them; that minute is given to the earlier one.
 * The loop passes over windows that a clock change left empty, such as a date that was skipped.
 */
function wallClockWindowAt(instant: InstantMs, clock: WallClock, timezone: string): Interval {
  let start = clock.startOf(localDateTimeAt(instant, timezone));
  let startMs = lastingInstantOfLocal(start, timezone);
  if (startMs > instant) {
    start = clock.startOf(moveLocal(start, 'hours', -1));
    startMs = lastingInstantOfLocal(start, timezone);
  }
  for (;;) {
    const end = clock.next(start);
    const endMs = lastingInstantOfLocal(end, timezone);
    if (instant < endMs) return { startMs, endMs };
    [start, startMs] = [end, endMs];
  }
}

function wallClockOf(size: WallClockSize, grid: WindowGrid): WallClock {
  switch (size) {
    case '3HOUR':
      return slotsOfHours(3);
    case '6HOUR':
      return slotsOfHours(6);
    case '12HOUR':
      return slotsOfHours(12);
    case 'DAY':
      return { startOf: midnightOf, next: (start) => moveLocal(start, 'days', 1) };
    case 'WEEK':
      return { startOf: mondayOf, next: (start) => moveLocal(start, 'days', 7) };
    case 'MONTH':
      return monthsFromDay(anchorDayOf(grid));
  }
}

function slotsOfHours(hours: number): WallClock {
  return {
    startOf: (local) =>
      moveLocal(midnightOf(local), 'hours', Math.floor(local.hour / hours) * hours),
    next: (start) => moveLocal(start, 'hours', hours),
  };
}

function mondayOf(local: LocalDateTime): LocalDateTime {
  return moveLocal(midnightOf(local), 'days', 1 - local.dayOfWeek);
}

function anchorDayOf(grid: WindowGrid): number {
  return grid.anchorMs === null ? 1 : localDateTimeAt(grid.anchorMs, grid.timezone).day;
}

/** Months that begin at 00:00 of a day of the month, or of the last day of a shorter month. */
function monthsFromDay(day: number): WallClock {
  const beginIn = (month: LocalDateTime): LocalDateTime =>
    midnightOf(month).with({ day: Math.min(day, month.daysInMonth) });
  const beginAfter = (local: LocalDateTime, months: number): LocalDateTime =>
    beginIn(moveLocal(local.with({ day: 1 }), 'months', months));
  return {
    startOf: (local) => (local.day >= beginIn(local).day ? beginIn(local) : beginAfter(local, -1)),
    next: (start) => beginAfter(start, 1),
  };
}

/**
 * A number that the windows of an interval do not fall short of, from the lengths alone: it costs
 * nothing, however long the interval is.
 */
export function windowCountAtLeast({ startMs, endMs }: Interval, size: WindowSize): number {
  return Math.max(0, Math.floor((endMs - startMs - CLOCK_CHANGES_MS) / LENGTH_MS[size]));
}

/**
 * The windows that have an instant in common with an interval, in order, uncut and without a gap
 * between them. The caller bounds the interval: a year has 525,600 minutes.
 */
export function windowsIn(interval: Interval, grid: WindowGrid): readonly Interval[] {
  const { size, timezone } = grid;
  if (isSlotSize(size)) return slotsIn(interval, SLOT_MS[size], timezone);
  return [...wallClockWindowsIn(interval, { ...grid, size })];
}

/** Like `windowsIn`, cut to the interval: only the first and the last can reach beyond it. */
export function windowsWithin(interval: Interval, grid: WindowGrid): readonly Interval[] {
  const windows = windowsIn(interval, grid);
  const [first, last] = [windows[0], windows.at(-1)];
  if (first === undefined || last === undefined) return windows;
  if (first.startMs >= interval.startMs && last.endMs <= interval.endMs) return windows;
  return windows.map((window) => cutTo(window, interval));
}

/** From edge to edge between clock changes, in local time as if it were UTC. */
function stepOf(grid: WindowGrid, size: WallClockSize): (edgeMs: number) => number {
  if (size !== 'MONTH') return (edgeMs) => edgeMs + WALL_CLOCK_MS[size];
  const day = anchorDayOf(grid);
  return (edgeMs) => dayOfNextMonth(edgeMs, day);
}

/**
 * Asks the calendar for the windows around clock changes only and counts on by itself between them:
 * per window it would take half a second for ten thousand windows.
 */
function* wallClockWindowsIn(
  interval: Interval,
  grid: WindowGrid & { readonly size: WallClockSize },
): Generator<Interval> {
  const { size, timezone } = grid;
  const clock = wallClockOf(size, grid);
  const step = stepOf(grid, size);
  let instant = interval.startMs;
  while (instant < interval.endMs) {
    const window = wallClockWindowAt(instant, clock, timezone);
    yield window;
    instant = window.endMs;
    const stretch = stretchAt(instant, timezone);
    // The first instant of a stretch may lie behind the edge that its gap skipped; any later one
    // shows the edge itself, and so does every step from it that stays inside the stretch.
    if (instant === stretch.startMs) continue;
    const { offsetMs } = stretch;
    const lastEdgeMs = lastEdgeOf(stretch, timezone);
    let edgeMs = step(instant + offsetMs);
    while (instant < interval.endMs && edgeMs <= lastEdgeMs) {
      yield { startMs: instant, endMs: edgeMs - offsetMs };
      instant = edgeMs - offsetMs;
      edgeMs = step(edgeMs);
    }
  }
}

/**
 * The latest local time, as if it were UTC, at which a window can end inside a stretch: it is shown
 * before the stretch ends, and the clock does not go back behind it then.
 */
function lastEdgeOf({ endMs, offsetMs }: OffsetStretch, timezone: string): number {
  return Math.min(endMs - 1 + offsetMs, endMs + stretchAt(endMs, timezone).offsetMs);
}

/**
 * Asks for the UTC offset once per stretch: per window it would take seconds for a year of minutes.
 * A list, and no generator, which would take three times as long for a month of them.
 */
function slotsIn(interval: Interval, slotMs: number, timezone: string): readonly Interval[] {
  const slots: Interval[] = [];
  let instant = interval.startMs;
  while (instant < interval.endMs) {
    const stretch = stretchAt(instant, timezone);
    const untilMs = Math.min(stretch.endMs, interval.endMs);
    const first = slotIn(stretch, instant, slotMs);
    slots.push(first);
    instant = first.endMs;
    // From the first edge on, slots follow each other at one distance.
    for (; instant < untilMs; instant += slotMs) {
      slots.push({ startMs: instant, endMs: Math.min(instant + slotMs, stretch.endMs) });
    }
    instant = Math.min(instant, stretch.endMs);
  }
  return slots;
}
