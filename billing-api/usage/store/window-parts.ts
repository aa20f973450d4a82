import { assertPresent } from '../../../runtime/failure.js';
import { MINUTE_MS, minuteOf, type InstantMs, type Interval } from '../../../contract/instant.js';
import { EVENT_TIMESTAMP_END_MS } from '../../../contract/usage-event.js';

/** Where the parts of a window are read from. */
export type WindowParts = {
  /** Whole minutes but some of them; null for none. */
  readonly minutes: (Interval & { readonly except: readonly InstantMs[] }) | null;
  /** Stretches that do not touch each other. */
  readonly events: readonly Interval[];
};

/**
 * Boundaries inside minutes come in numbers where a zone's offset is no whole number of minutes, as
 * all were before about 1920; then the events answer all.
 */
const CUT_MINUTES_MAX = 50;

/** The part of a window in which events can lie; windows outside of it become empty. */
export function clampedWindow({ startMs, endMs }: Interval): Interval {
  const start = Math.min(Math.max(startMs, 0), EVENT_TIMESTAMP_END_MS);
  return { startMs: start, endMs: Math.max(start, Math.min(endMs, EVENT_TIMESTAMP_END_MS)) };
}

function isNotEmpty({ startMs, endMs }: Interval): boolean {
  return startMs < endMs;
}

/**
 * Cuts a window into whole minutes, which the minute rows answer, and those that a boundary of the
 * window or of its slots lies inside, which the events answer. From the minute `eventsFromMs` on
 * the events answer all.
 */
export function partsOf(
  window: Interval,
  slots: readonly InstantMs[],
  eventsFromMs: InstantMs = window.endMs,
): WindowParts {
  const { startMs } = window;
  const endMs = Math.max(startMs, Math.min(window.endMs, eventsFromMs));
  const isCut = (boundary: InstantMs): boolean => boundary % MINUTE_MS !== 0;
  const inside = slots.filter((slot) => isCut(slot) && slot > startMs && slot < endMs);
  const cutMinutes = [...new Set([startMs, ...inside, endMs].filter(isCut).map(minuteOf))];
  const firstMinute = minuteOf(startMs + MINUTE_MS - 1);
  const lastMinute = minuteOf(endMs);
  if (firstMinute >= lastMinute || cutMinutes.length > CUT_MINUTES_MAX) {
    return { minutes: null, events: [window].filter(isNotEmpty) };
  }
  const events = cutMinutes.map((minute) => ({
    startMs: Math.max(minute, startMs),
    endMs: Math.min(minute + MINUTE_MS, endMs),
  }));
  const except = cutMinutes.filter((minute) => minute >= firstMinute && minute < lastMinute);
  const rest = { startMs: endMs, endMs: window.endMs };
  return {
    minutes: { startMs: firstMinute, endMs: lastMinute, except },
    events: [...events, rest].filter(isNotEmpty),
  };
}

/** Starts that follow each other at one distance: first, distance, how many. */
export type Run = readonly [startMs: InstantMs, stepMs: number, count: number];

/** A month of minutes is one run; a text of 44 640 numbers would take the server longer to read. */
export function runsOf(starts: readonly InstantMs[]): readonly Run[] {
  const runs: Run[] = [];
  let index = 0;
  while (index < starts.length) {
    const startMs = assertPresent(starts[index], 'a start');
    const stepMs = (starts[index + 1] ?? startMs) - startMs;
    let count = 1;
    while (stepMs > 0 && starts[index + count] === startMs + count * stepMs) count += 1;
    runs.push([startMs, stepMs, count]);
    index += count;
  }
  return runs;
}
