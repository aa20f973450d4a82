import fc from 'fast-check';
import type { WindowSize } from '../meter.js';
import type { Range } from '../windows.js';

/** Events may bear times of `[1970, 2200)` (docs/domain.md 7.1). */
const FIRST = 0;
const LAST = Date.UTC(2200, 0) - 1;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Time zones, each with instants at which it is hard to be right. */
const HARD_TIMES: readonly (readonly [string, readonly string[]])[] = [
  ['UTC', ['1970-01-01T00:00:00Z', '2024-02-29T12:00:00Z', '2199-12-31T23:59:59Z']],
  ['Europe/Berlin', ['2026-03-29T01:00:00Z', '2026-10-25T01:00:00Z', '2199-10-27T01:00:00Z']],
  ['America/St_Johns', ['2026-03-08T05:30:00Z', '2026-11-01T04:30:00Z', '2010-03-14T03:31:00Z']],
  ['Australia/Lord_Howe', ['2026-04-04T15:00:00Z', '2026-10-03T15:30:00Z']],
  ['Asia/Kathmandu', ['2026-01-31T18:15:00Z', '2025-12-31T18:15:00Z']],
];

/** The zone of a case and the instant that its events and questions surround. */
export type Scene = {
  readonly zone: string;
  readonly centre: number;
  /**
   * Instants of events at which questions begin and end as well, as the usage windows of lines do
   * that hand over inside of a period, and at which anchors move.
   */
  readonly marks: readonly number[];
};

export const anyZone: fc.Arbitrary<string> = fc.constantFrom(...HARD_TIMES.map(([zone]) => zone));

const SPANS_MS = [2 * MINUTE_MS, 3 * HOUR_MS, 3 * DAY_MS, 70 * DAY_MS] as const;

function within(centre: number, spanMs: number): fc.Arbitrary<number> {
  const inside = fc.integer({ min: -spanMs, max: spanMs });
  const onBoundary = inside.map((distance) => Math.round(distance / MINUTE_MS) * MINUTE_MS);
  return fc
    .oneof(inside, onBoundary)
    .map((distance) => Math.min(Math.max(centre + distance, FIRST), LAST));
}

/** Near enough for the narrowest questions. */
const MARK_SPAN_MS = 75 * MINUTE_MS;

export const anyScene: fc.Arbitrary<Scene> = fc.constantFrom(...HARD_TIMES).chain(([zone, times]) =>
  fc.constantFrom(...times).chain((time) => {
    const centre = Date.parse(time);
    const mark = within(centre, MARK_SPAN_MS);
    return fc.array(mark, { minLength: 2, maxLength: 4 }).map((marks) => ({ zone, centre, marks }));
  }),
);

/** An instant near the centre, in milliseconds; now and then anywhere. */
export function anyTimestamp({ centre, marks }: Scene): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...marks) },
    { weight: 12, arbitrary: fc.constantFrom(...SPANS_MS).chain((span) => within(centre, span)) },
    { weight: 1, arbitrary: fc.integer({ min: FIRST, max: LAST }) },
    { weight: 1, arbitrary: fc.constantFrom(FIRST, LAST) },
  );
}

/** Widest range that is asked in windows of a size: answers of some hundred windows at most. */
const WIDEST: readonly (readonly [WindowSize | null, number])[] = [
  ['MINUTE', 3 * HOUR_MS],
  ['15MIN', DAY_MS],
  ['30MIN', 2 * DAY_MS],
  ['HOUR', 4 * DAY_MS],
  ['3HOUR', 10 * DAY_MS],
  ['6HOUR', 20 * DAY_MS],
  ['12HOUR', 30 * DAY_MS],
  ['DAY', 70 * DAY_MS],
  ['WEEK', 70 * DAY_MS],
  ['MONTH', 70 * DAY_MS],
  [null, 70 * DAY_MS],
  [null, LAST],
];

export type AskedWindows = { readonly range: Range; readonly windowSize: WindowSize | null };

/** A range around the centre of at least a millisecond, and the windows that it is asked in. */
export function anyWindows({ centre, marks }: Scene): fc.Arbitrary<AskedWindows> {
  return fc.constantFrom(...WIDEST).chain(([windowSize, widest]) => {
    const anywhere = within(centre, Math.floor(widest / 2));
    const instant = fc.oneof(anywhere, fc.constantFrom(...marks));
    return fc.tuple(instant, instant).map(([one, other]) => {
      const start = Math.min(one, other);
      return { windowSize, range: { start, end: Math.max(one, other, start + 1) } };
    });
  });
}
