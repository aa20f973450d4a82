import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Interval } from '../../../contract/instant.js';
import { HOUR_MS } from '../../../contract/instant.js';
import type { WindowSize } from './usage-windows.js';
import { windowAt, windowCountAtLeast, windowsIn } from './usage-windows.js';

const at = (text: string): number => Date.parse(text);

// Thousands of windows, each found by itself: seconds of work, and more on a busy machine.
describe('windows of long ranges (7.8)', { timeout: 60_000 }, () => {
  const anywhere = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'America/Toronto',
    'America/Asuncion',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Africa/Cairo',
    'Antarctica/Troll',
    'Asia/Gaza',
    'Pacific/Apia',
    'Pacific/Kwajalein',
  );
  const ranges = fc
    .record({
      startMs: fc.integer({ min: at('1900-01-01T00:00:00Z'), max: at('2050-01-01T00:00:00Z') }),
      days: fc.integer({ min: 1, max: 400 }),
    })
    .map(({ startMs, days }): Interval => ({ startMs, endMs: startMs + days * 24 * HOUR_MS }));
  const longGrids = fc.record({
    size: fc.constantFrom<WindowSize>('3HOUR', '6HOUR', '12HOUR', 'DAY', 'WEEK', 'MONTH'),
    timezone: anywhere,
    anchorMs: fc.option(
      fc.integer({ min: at('1990-01-01T00:00:00Z'), max: at('2050-01-01T00:00:00Z') }),
    ),
  });

  it.each<[string, string, WindowSize]>([
    ['America/Asuncion', '2015-01-01T00:00:00Z', 'DAY'],
    ['America/Asuncion', '2015-01-01T00:00:00Z', '3HOUR'],
    ['America/Toronto', '1918-01-01T00:00:00Z', 'DAY'],
    ['Pacific/Apia', '2010-06-01T00:00:00Z', 'DAY'],
  ])(
    'go on from the next edge where a gap skipped one: %s from %s by %s',
    (timezone, start, size) => {
      const windows = { size, timezone, anchorMs: null };
      const range = { startMs: at(start), endMs: at(start) + 1_200 * 24 * HOUR_MS };
      const listed = windowsIn(range, windows);
      expect(listed).toEqual(listed.map(({ startMs }) => windowAt(startMs, windows)));
    },
  );

  it('the windows of years are those found one by one, over any clock change', () => {
    fc.assert(
      fc.property(longGrids, ranges, (windows, range) => {
        const alone: Interval[] = [];
        for (let instant = range.startMs; instant < range.endMs;) {
          const window = windowAt(instant, windows);
          alone.push(window);
          instant = window.endMs;
        }
        expect(windowsIn(range, windows)).toEqual(alone);
      }),
      { numRuns: 60 },
    );
  });

  const shortGrids = fc.record({
    size: fc.constantFrom<WindowSize>('30MIN', 'HOUR', '3HOUR', 'DAY', 'WEEK', 'MONTH'),
    timezone: anywhere,
    anchorMs: fc.constant(null),
  });

  it('the least number of windows is never too high, and short of it by two days at most', () => {
    fc.assert(
      fc.property(shortGrids, ranges, (windows, { startMs, endMs }) => {
        const range = { startMs, endMs: Math.min(endMs, startMs + 30 * 24 * HOUR_MS) };
        const count = windowsIn(range, windows).length;
        const least = windowCountAtLeast(range, windows.size);
        const perDay = windowsIn({ startMs, endMs: startMs + 24 * HOUR_MS }, windows).length;
        expect(least).toBeLessThanOrEqual(count);
        expect(least).toBeGreaterThanOrEqual(count - 6 * perDay);
      }),
      { numRuns: 40 },
    );
  });

  it('tells that a long range has many windows without listing them', () => {
    const centuries = { startMs: at('1900-01-01T00:00:00Z'), endMs: at('2299-01-01T00:00:00Z') };
    expect(windowCountAtLeast(centuries, 'MINUTE')).toBeGreaterThan(200_000_000);
    expect(windowCountAtLeast(centuries, '3HOUR')).toBeGreaterThan(1_000_000);
  });

  it.each<[WindowSize, string]>([
    ['3HOUR', '2024-01-01T00:00:00Z'],
    ['DAY', '2048-01-01T00:00:00Z'],
    ['WEEK', '2190-01-01T00:00:00Z'],
    ['MONTH', '2299-01-01T00:00:00Z'],
  ])('lists thousands of %s windows in order, without a hole', (size, end) => {
    const range = { startMs: at('1990-01-01T00:00:00Z'), endMs: at(end) };
    let count = 0;
    let endMs: number | null = null;
    for (const window of windowsIn(range, {
      size,
      timezone: 'Australia/Lord_Howe',
      anchorMs: null,
    })) {
      if ((endMs ?? window.startMs) !== window.startMs || window.endMs <= window.startMs) break;
      endMs = window.endMs;
      count += 1;
      if (count === 10_000) break;
    }
    expect(count).toBeGreaterThan(3_000);
  });
});
