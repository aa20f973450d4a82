import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WINDOW_SIZES, type WindowSize } from './meter.js';
import { bucketAt, windowsOf, type Window } from './windows.js';

const HOUR_MS = 3_600_000;

function between(
  zone: string,
  size: WindowSize,
  times: { start: string; end: string; anchor?: string },
): readonly Window[] {
  const anchor = times.anchor === undefined ? null : Date.parse(times.anchor);
  const range = { start: Date.parse(times.start), end: Date.parse(times.end) };
  return windowsOf({ size, zone, anchor }, range);
}

function boundsOf(windows: readonly Window[]): readonly string[] {
  return windows.map(({ parts }) =>
    parts
      .map(({ start, end }) => `${new Date(start).toISOString()}/${new Date(end).toISOString()}`)
      .join(' '),
  );
}

function lengthsOf(windows: readonly Window[]): readonly number[] {
  return windows.map(({ parts }) =>
    parts.reduce((sum, { start, end }) => sum + (end - start) / HOUR_MS, 0),
  );
}

const springDay = { start: '2026-03-28T23:00:00Z', end: '2026-03-29T22:00:00Z' };
const autumnDay = { start: '2026-10-24T22:00:00Z', end: '2026-10-25T23:00:00Z' };

describe('windows of local time', () => {
  test('a day with a clock change has 23 or 25 hours of equal length', () => {
    expect(lengthsOf(between('Europe/Berlin', 'HOUR', springDay))).toEqual(Array(23).fill(1));
    expect(lengthsOf(between('Europe/Berlin', 'HOUR', autumnDay))).toEqual(Array(25).fill(1));
    expect(lengthsOf(between('Europe/Berlin', 'DAY', springDay))).toEqual([23]);
    expect(lengthsOf(between('Europe/Berlin', 'DAY', autumnDay))).toEqual([25]);
  });

  test('the 3HOUR window of a clock change is an hour shorter or longer', () => {
    expect(lengthsOf(between('Europe/Berlin', '3HOUR', springDay))).toEqual([
      2, 3, 3, 3, 3, 3, 3, 3,
    ]);
    expect(lengthsOf(between('Europe/Berlin', '3HOUR', autumnDay))).toEqual([
      4, 3, 3, 3, 3, 3, 3, 3,
    ]);
  });

  test('weeks begin on Monday', () => {
    const range = { start: '2026-01-01T00:00:00Z', end: '2026-01-13T00:00:00Z' };
    expect(boundsOf(between('UTC', 'WEEK', range)).map((text) => text.slice(0, 10))).toEqual([
      '2026-01-01',
      '2026-01-05',
      '2026-01-12',
    ]);
  });

  test.each([
    ['2026-01-31', ['2026-01-15', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']],
    ['2024-02-29', ['2026-01-15', '2026-01-29', '2026-02-28', '2026-03-29', '2026-04-29']],
    ['2026-06-15', ['2026-01-15', '2026-02-15', '2026-03-15', '2026-04-15']],
  ])('months from the anchor %s are clamped and come back', (anchor, starts) => {
    const range = { start: '2026-01-15T00:00:00Z', end: '2026-05-01T00:00:00Z', anchor };
    expect(boundsOf(between('UTC', 'MONTH', range)).map((text) => text.slice(0, 10))).toEqual(
      starts,
    );
  });

  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
  ];
  const cases = fc.record({
    zone: fc.constantFrom(...zones),
    size: fc.constantFrom(...WINDOW_SIZES.slice(3)),
    start: fc.integer({ min: 0, max: Date.UTC(2199, 0) }),
    length: fc.integer({ min: 1, max: 40 * 24 * HOUR_MS }),
    anchor: fc.option(fc.integer({ min: 0, max: Date.UTC(2199, 0) })),
  });

  test('fill the range without hole or overlap, and each holds the instants of its identity', () => {
    fc.assert(
      fc.property(cases, fc.double({ min: 0, max: 1, noNaN: true }), (given, where) => {
        const range = { start: given.start, end: given.start + given.length };
        const windows = windowsOf(given, range);
        const parts = windows.flatMap((window) => window.parts).sort((a, b) => a.start - b.start);
        expect(parts[0]?.start).toBe(range.start);
        expect(parts.at(-1)?.end).toBe(range.end);
        parts.slice(1).forEach((part, index) => expect(part.start).toBe(parts[index]?.end));
        const instant = Math.floor(range.start + where * (given.length - 1));
        const own = windows.filter((window) =>
          window.parts.some(({ start, end }) => instant >= start && instant < end),
        );
        expect(own.map(({ identity }) => identity)).toEqual([bucketAt(given, instant)]);
      }),
      { numRuns: 60 },
    );
  });
});
