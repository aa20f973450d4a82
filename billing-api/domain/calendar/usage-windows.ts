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

/** Sizes of windows that also end when the clocks change: a new window begins at that moment. */
export type SlotSize = 'MINUTE' | '15MIN' | '30MIN' | 'HOUR';

/** Sizes measured by the wall clock: a clock change makes the window shorter or longer. */
export type WallClockSize = '3HOUR' | '6HOUR' | '12HOUR' | 'DAY' | 'WEEK' | 'MONTH';

/** Sizes of meter buckets and of the windows of usage answers (docs/domain.md 2.1). */
export type WindowSize = SlotSize | WallClockSize;

/** How time is cut into windows (docs/domain.md 7.8). */
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

/** Lengths of windows that contain no clock change. */
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

/** Minutes of a window without a clock change; of a MONTH, those of the longest month. */
export function windowMinutesOf(size: WindowSize): number {
  return LENGTH_MS[size] / MINUTE_MS;
}

/** The size with the longer windows; `left` when both are equal. */
export function coarserOf(left: WindowSize, right: WindowSize): WindowSize {
  return LENGTH_MS[right] > LENGTH_MS[left] ? right : left;
}

/**
 * Upper bound for how much clock changes can lengthen the windows of a range together: the offsets
 * of a zone at two different times never differ by as much as two days.
 */
const CLOCK_CHANGES_MS = 2 * DAY_MS;

function isSlotSize(size: WindowSize): size is SlotSize {
  return Object.hasOwn(SLOT_MS, size);
}

/** How windows of a size follow each other on the wall clock. */
type WallClock = {
  /** The start of the window that a local time belongs to. */
  readonly startOf: (local: LocalDateTime) => LocalDateTime;
  readonly next: (start: LocalDateTime) => LocalDateTime;
};

/**
 * The window that contains an instant. MINUTE to HOUR: (local date, slot of the day, UTC offset);
 * 3HOUR to 12HOUR: (local date, slot); DAY: local date; WEEK: from Monday; MONTH: from the anchor's
 * day of the month, clamped to short months (docs/domain.md 7.8).
 */
export function windowAt(instant: InstantMs, grid: WindowGrid): Interval {
  const { size, timezone } = grid;
  if (!isSlotSize(size)) return wallClockWindowAt(instant, wallClockOf(size, grid), timezone);
  return slotIn(stretchAt(instant, timezone), instant, SLOT_MS[size]);
}

/** The slot of an instant, cut to the interval of constant UTC offset around it. */
function slotIn(stretch: OffsetStretch, instant: InstantMs, slotMs: number): Interval {
  const { offsetMs } = stretch;
  const startMs = Math.floor((instant + offsetMs) / slotMs) * slotMs - offsetMs;
  return {
    startMs: Math.max(startMs, stretch.startMs),
    endMs: Math.min(startMs + slotMs, stretch.endMs),
  };
}

/**
 * Windows are contiguous intervals. Where the clock is set back across the boundary of two windows
 * (America/St_Johns, 2010-11-07, 00:01 became 23:01), local time shows the earlier window, one
 * minute of the later one, and the earlier one again; that minute is part of the earlier window.
 * The loop skips windows that a clock change left empty, such as a date that does not exist.
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

/** A lower bound for the number of windows of an interval, computed in constant time. */
export function windowCountAtLeast({ startMs, endMs }: Interval, size: WindowSize): number {
  return Math.max(0, Math.floor((endMs - startMs - CLOCK_CHANGES_MS) / LENGTH_MS[size]));
}

/**
 * The windows that overlap an interval, in order, uncut and without gaps. The caller limits the
 * interval: a year has 525,600 minutes.
 */
export function windowsIn(interval: Interval, grid: WindowGrid): readonly Interval[] {
  const { size, timezone } = grid;
  if (isSlotSize(size)) return slotsIn(interval, SLOT_MS[size], timezone);
  return [...wallClockWindowsIn(interval, { ...grid, size })];
}

/** Like `windowsIn`, cut to the interval; only the first and the last window can exceed it. */
export function windowsWithin(interval: Interval, grid: WindowGrid): readonly Interval[] {
  const windows = windowsIn(interval, grid);
  const [first, last] = [windows[0], windows.at(-1)];
  if (first === undefined || last === undefined) return windows;
  if (first.startMs >= interval.startMs && last.endMs <= interval.endMs) return windows;
  return windows.map((window) => cutTo(window, interval));
}

/** The step to the next boundary between clock changes, in local time as if it were UTC. */
function stepOf(grid: WindowGrid, size: WallClockSize): (edgeMs: number) => number {
  if (size !== 'MONTH') return (edgeMs) => edgeMs + WALL_CLOCK_MS[size];
  const day = anchorDayOf(grid);
  return (edgeMs) => dayOfNextMonth(edgeMs, day);
}

/**
 * Uses the calendar only around clock changes and plain addition between them: asking the calendar
 * for every window would take half a second for ten thousand windows.
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
    // The first instant after a clock change may be later than the boundary that the change
    // skipped. Every later window begins at its boundary, so steps from there stay on boundaries.
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
 * The latest boundary, in local time as if it were UTC, at which a window can end before the next
 * clock change: the clock must show it before the change and must not show it again afterwards.
 */
function lastEdgeOf({ endMs, offsetMs }: OffsetStretch, timezone: string): number {
  return Math.min(endMs - 1 + offsetMs, endMs + stretchAt(endMs, timezone).offsetMs);
}

/**
 * Looks up the UTC offset once per interval of constant offset; once per window would take seconds
 * for a year of minutes. Returns a list, because a generator takes three times as long.
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
    // After the first boundary all slots have the same length.
    for (; instant < untilMs; instant += slotMs) {
      slots.push({ startMs: instant, endMs: Math.min(instant + slotMs, stretch.endMs) });
    }
    instant = Math.min(instant, stretch.endMs);
  }
  return slots;
}
