import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Interval } from '../../../contract/instant.js';
import { HOUR_MS, MINUTE_MS, formatInstant, parseInstant } from '../../../contract/instant.js';
import type { WindowGrid, WindowSize } from './usage-windows.js';
import { windowAt, windowsIn } from './usage-windows.js';

function at(text: string): number {
  const instant = parseInstant(text);
  if (instant === null) throw new TypeError(`not an instant: ${text}`);
  return instant;
}

const shown = (instant: number): string => formatInstant(instant).replace(':00.000Z', 'Z');
const grid = (size: WindowSize, timezone = 'UTC', anchor: string | null = null): WindowGrid => ({
  size,
  timezone,
  anchorMs: anchor === null ? null : at(anchor),
});
const windowOf = (instant: string, windows: WindowGrid): string[] => {
  const { startMs, endMs } = windowAt(at(instant), windows);
  return [shown(startMs), shown(endMs)];
};
/** Lengths in hours of the windows of an interval. */
const hoursIn = (start: string, end: string, windows: WindowGrid): number[] =>
  windowsIn({ startMs: at(start), endMs: at(end) }, windows).map(
    (window) => (window.endMs - window.startMs) / HOUR_MS,
  );

describe('windows (7.8)', () => {
  it.each<[WindowSize, string, string]>([
    ['MINUTE', '2026-05-13T10:47Z', '2026-05-13T10:48Z'],
    ['15MIN', '2026-05-13T10:45Z', '2026-05-13T11:00Z'],
    ['30MIN', '2026-05-13T10:30Z', '2026-05-13T11:00Z'],
    ['HOUR', '2026-05-13T10:00Z', '2026-05-13T11:00Z'],
    ['3HOUR', '2026-05-13T09:00Z', '2026-05-13T12:00Z'],
    ['6HOUR', '2026-05-13T06:00Z', '2026-05-13T12:00Z'],
    ['12HOUR', '2026-05-13T00:00Z', '2026-05-13T12:00Z'],
    ['DAY', '2026-05-13T00:00Z', '2026-05-14T00:00Z'],
    ['WEEK', '2026-05-11T00:00Z', '2026-05-18T00:00Z'],
    ['MONTH', '2026-05-01T00:00Z', '2026-06-01T00:00Z'],
  ])('%s around 2026-05-13T10:47:12.345Z is from %s to %s', (size, start, end) => {
    expect(windowOf('2026-05-13T10:47:12.345Z', grid(size))).toEqual([start, end]);
  });

  it.each<[WindowSize, string, string]>([
    ['HOUR', '2026-05-13T10:30Z', '2026-05-13T11:30Z'],
    ['30MIN', '2026-05-13T10:30Z', '2026-05-13T11:00Z'],
    ['6HOUR', '2026-05-13T06:30Z', '2026-05-13T12:30Z'],
    ['DAY', '2026-05-12T18:30Z', '2026-05-13T18:30Z'],
    ['WEEK', '2026-05-10T18:30Z', '2026-05-17T18:30Z'],
    ['MONTH', '2026-04-30T18:30Z', '2026-05-31T18:30Z'],
  ])('%s follows the local time of a zone five and a half hours ahead', (size, start, end) => {
    const windows = grid(size, 'Asia/Kolkata');
    expect(windowOf('2026-05-13T10:47:12.345Z', windows)).toEqual([start, end]);
  });

  it('gives an instant on an edge to the later window', () => {
    expect(windowOf('2026-05-13T11:00:00Z', grid('HOUR'))[0]).toBe('2026-05-13T11:00Z');
    expect(windowOf('2026-05-13T10:59:59.999Z', grid('HOUR'))[1]).toBe('2026-05-13T11:00Z');
  });

  it.each([
    ['2026-02-28T12:00:00Z', '2026-02-28T00:00Z', '2026-03-31T00:00Z'],
    ['2026-02-27T12:00:00Z', '2026-01-31T00:00Z', '2026-02-28T00:00Z'],
    ['2026-03-30T12:00:00Z', '2026-02-28T00:00Z', '2026-03-31T00:00Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00Z', '2024-03-31T00:00Z'],
    ['2026-01-01T00:00:00Z', '2025-12-31T00:00Z', '2026-01-31T00:00Z'],
  ])(
    'MONTH begins on the day of the anchor, clamped to short months: %s',
    (instant, start, end) => {
      const windows = grid('MONTH', 'UTC', '2025-10-31T17:45:00Z');
      expect(windowOf(instant, windows)).toEqual([start, end]);
    },
  );

  it('reads the day of the anchor in local time', () => {
    // 31 October 23:30 UTC is 1 November in Berlin.
    const windows = grid('MONTH', 'Europe/Berlin', '2025-10-31T23:30:00Z');
    expect(windowOf('2026-01-15T12:00:00Z', windows)).toEqual([
      '2025-12-31T23:00Z',
      '2026-01-31T23:00Z',
    ]);
  });
});

describe('clock changes (7.8)', () => {
  const spring = ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'] as const;
  const autumn = ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'] as const;
  const berlin = (size: WindowSize): WindowGrid => grid(size, 'Europe/Berlin');

  it('a local day has 23 or 25 HOUR windows of one hour', () => {
    expect(hoursIn(...spring, berlin('HOUR'))).toEqual(Array(23).fill(1));
    expect(hoursIn(...autumn, berlin('HOUR'))).toEqual(Array(25).fill(1));
  });

  it('a 3HOUR window that contains the change is one hour shorter or longer', () => {
    expect(hoursIn(...spring, berlin('3HOUR'))).toEqual([2, 3, 3, 3, 3, 3, 3, 3]);
    expect(hoursIn(...autumn, berlin('3HOUR'))).toEqual([4, 3, 3, 3, 3, 3, 3, 3]);
  });

  it('so is a 6HOUR, a 12HOUR, a DAY and a WEEK window', () => {
    expect(hoursIn(...spring, berlin('6HOUR'))).toEqual([5, 6, 6, 6]);
    expect(hoursIn(...autumn, berlin('12HOUR'))).toEqual([13, 12]);
    expect(hoursIn(...spring, berlin('DAY'))).toEqual([23]);
    expect(hoursIn(...autumn, berlin('WEEK'))).toEqual([7 * 24 + 1]);
  });

  it('a repeated hour is two windows', () => {
    const windows = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((instant) =>
      windowOf(instant, berlin('HOUR')),
    );
    expect(windows).toEqual([
      ['2026-10-25T00:00Z', '2026-10-25T01:00Z'],
      ['2026-10-25T01:00Z', '2026-10-25T02:00Z'],
    ]);
  });

  it('a change by half an hour makes half windows', () => {
    // On Lord Howe Island 02:00 becomes 02:30 on 4 October 2026: the 02 hour has only its second
    // half.
    const windows = grid('HOUR', 'Australia/Lord_Howe');
    expect(hoursIn('2026-10-03T14:30:00Z', '2026-10-03T17:00:00Z', windows)).toEqual([1, 0.5, 1]);
  });

  it('a change inside an hour ends its window: another UTC offset is another window', () => {
    // In Newfoundland 00:01 became 23:01 of the day before on 29 October 2006.
    const windows = grid('HOUR', 'America/St_Johns');
    const minutes = hoursIn('2006-10-29T01:30:00Z', '2006-10-29T04:30:00Z', windows).map(
      (hours) => hours * 60,
    );
    expect(minutes).toEqual([60, 1, 59, 60]);
    expect(windowOf('2006-10-29T02:30:30Z', windows)).toEqual([
      '2006-10-29T02:30Z',
      '2006-10-29T02:31Z',
    ]);
  });

  describe('where 00:01 becomes 23:01 of the day before (America/St_Johns, 7 November 2010)', () => {
    // 02:30Z is 00:00 on the 7th, from 02:31Z on it is the 6th again, until 03:30Z.
    const sixth = ['2010-11-06T02:30Z', '2010-11-07T03:30Z'];
    const seventh = ['2010-11-07T03:30Z', '2010-11-08T03:30Z'];

    it.each([
      ['2010-11-06T12:00:00Z', sixth],
      ['2010-11-07T02:31:00Z', sixth],
      ['2010-11-07T03:29:59.999Z', sixth],
      ['2010-11-07T03:30:00Z', seventh],
      ['2010-11-07T12:00:00Z', seventh],
    ])('%s is in the window of its local date', (instant, day) => {
      expect(windowOf(instant, grid('DAY', 'America/St_Johns'))).toEqual(day);
    });

    it('the minute of the 7th that comes before the rest of the 6th stays with the 6th', () => {
      expect(windowOf('2010-11-07T02:30:30Z', grid('DAY', 'America/St_Johns'))).toEqual(sixth);
      const windows = grid('3HOUR', 'America/St_Johns');
      expect(windowOf('2010-11-07T02:30:30Z', windows)).toEqual([
        '2010-11-06T23:30Z',
        '2010-11-07T03:30Z',
      ]);
    });

    it('a list has the same windows', () => {
      const windows = grid('DAY', 'America/St_Johns');
      const hours = hoursIn('2010-11-05T12:00:00Z', '2010-11-09T12:00:00Z', windows);
      expect(hours).toEqual([24, 25, 24, 24, 24]);
    });
  });

  it('a midnight that comes again on the same day begins it the first time', () => {
    // In Havana 01:00 became 00:00 on 1 November 2026.
    expect(windowOf('2026-11-01T12:00:00Z', grid('DAY', 'America/Havana'))).toEqual([
      '2026-11-01T04:00Z',
      '2026-11-02T05:00Z',
    ]);
  });

  it('a gap over midnight begins the day with the first time that exists', () => {
    // In Toronto 23:30 of 30 March 1919 became 00:30 of 31 March.
    const windows = grid('DAY', 'America/Toronto');
    expect(windowOf('1919-03-31T12:00:00Z', windows)[0]).toBe('1919-03-31T04:30Z');
    expect(windowOf('1919-03-31T04:29:59Z', windows)[1]).toBe('1919-03-31T04:30Z');
  });

  it('a midnight that does not exist begins its day at the change', () => {
    // Paraguay went from 00:00 to 01:00 on 1 October 2017.
    const windows = grid('DAY', 'America/Asuncion');
    expect(windowOf('2017-10-01T12:00:00Z', windows)).toEqual([
      '2017-10-01T04:00Z',
      '2017-10-02T03:00Z',
    ]);
  });

  it('a date that does not exist has no window', () => {
    // Samoa had no 30 December 2011.
    const hours = hoursIn(
      '2011-12-29T10:00:00Z',
      '2012-01-01T10:00:00Z',
      grid('DAY', 'Pacific/Apia'),
    );
    expect(hours).toEqual([24, 24, 24]);
  });
});

describe('laws', () => {
  const sizes: readonly WindowSize[] = [
    'MINUTE',
    '15MIN',
    '30MIN',
    'HOUR',
    '3HOUR',
    '6HOUR',
    '12HOUR',
    'DAY',
    'WEEK',
    'MONTH',
  ];
  const instants = fc.integer({ min: at('1990-01-01T00:00:00Z'), max: at('2050-01-01T00:00:00Z') });
  const grids = fc.record({
    size: fc.constantFrom(...sizes),
    timezone: fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Australia/Lord_Howe',
      'Pacific/Apia',
      'America/Asuncion',
    ),
    anchorMs: fc.option(instants),
  });

  it('a window contains its instant, and every instant of it has the same window', () => {
    fc.assert(
      fc.property(grids, instants, fc.double({ min: 0, max: 1, noNaN: true }), (windows, ms, f) => {
        const window = windowAt(ms, windows);
        expect(window.startMs <= ms && ms < window.endMs).toBe(true);
        const other = window.startMs + Math.floor(f * (window.endMs - window.startMs - 1));
        expect(windowAt(other, windows)).toEqual(window);
        expect(windowAt(window.startMs - 1, windows).endMs).toBe(window.startMs);
      }),
      { numRuns: 300 },
    );
  });

  it('the windows of an interval are those of its instants, in order and without a gap', () => {
    const lengths = fc.integer({ min: 1, max: 40 * HOUR_MS });
    fc.assert(
      fc.property(grids, instants, lengths, (windows, startMs, lengthMs) => {
        const interval: Interval = { startMs, endMs: startMs + lengthMs };
        const listed = windowsIn(interval, windows);
        expect(listed[0]).toEqual(windowAt(startMs, windows));
        expect(listed.at(-1)).toEqual(windowAt(interval.endMs - 1, windows));
        const isSeamless = listed.every(
          (window, index) => index === 0 || listed[index - 1]?.endMs === window.startMs,
        );
        expect(isSeamless).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('lists every minute of a year once', () => {
    const year = { startMs: at('2026-01-01T00:00:00Z'), endMs: at('2027-01-01T00:00:00Z') };
    let minutes = 0;
    for (const window of windowsIn(year, grid('MINUTE', 'Europe/Berlin'))) {
      minutes += (window.endMs - window.startMs) / MINUTE_MS;
    }
    expect(minutes).toBe(365 * 24 * 60);
  });
});
