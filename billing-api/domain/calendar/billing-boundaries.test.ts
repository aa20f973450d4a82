import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyBilling } from '../../testing/arbitrary-periods.js';
import { HOUR_MS, formatInstant, parseInstant } from '../../../contract/instant.js';
import type { BillingGrid, BillingPeriod } from './billing-grid.js';
import type { AnchorRequest } from './billing-boundaries.js';
import {
  boundaryAt,
  boundaryIndexAt,
  gridPeriodAt,
  resolveBillingAnchor,
} from './billing-boundaries.js';

function at(text: string): number {
  const instant = parseInstant(text);
  if (instant === null) throw new TypeError(`not an instant: ${text}`);
  return instant;
}

const day = (date: string): number => at(`${date}T00:00:00Z`);
const shown = (instant: number): string => formatInstant(instant).replace(':00.000Z', 'Z');
const dates = (instants: readonly number[]): string[] =>
  instants.map((ms) => shown(ms).slice(0, 10));

const MONTHLY: BillingGrid = {
  billingCycle: 'anniversary',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingAnchorMs: day('2026-01-01'),
  timezone: 'UTC',
};

const from = (date: string, change: Partial<BillingGrid> = {}): BillingGrid => ({
  ...MONTHLY,
  billingAnchorMs: at(date),
  ...change,
});

const boundaries = (grid: BillingGrid, count: number): number[] =>
  Array.from({ length: count }, (_, k) => boundaryAt(grid, k));

describe('boundaries (12.2, 12.3)', () => {
  it.each<[BillingPeriod, number, string, string[]]>([
    ['MONTHLY', 1, '2025-01-31', ['2025-01-31', '2025-02-28', '2025-03-31', '2025-04-30']],
    ['MONTHLY', 1, '2024-01-31', ['2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30']],
    ['MONTHLY', 1, '2025-01-30', ['2025-01-30', '2025-02-28', '2025-03-30', '2025-04-30']],
    ['QUARTERLY', 1, '2025-11-30', ['2025-11-30', '2026-02-28', '2026-05-30', '2026-08-30']],
    ['HALF_YEARLY', 1, '2025-08-31', ['2025-08-31', '2026-02-28', '2026-08-31', '2027-02-28']],
    ['MONTHLY', 2, '2025-12-31', ['2025-12-31', '2026-02-28', '2026-04-30', '2026-06-30']],
    ['WEEKLY', 1, '2025-12-29', ['2025-12-29', '2026-01-05', '2026-01-12', '2026-01-19']],
    ['WEEKLY', 2, '2025-12-29', ['2025-12-29', '2026-01-12', '2026-01-26', '2026-02-09']],
    ['DAILY', 1, '2024-02-28', ['2024-02-28', '2024-02-29', '2024-03-01', '2024-03-02']],
    ['DAILY', 10, '2025-02-20', ['2025-02-20', '2025-03-02', '2025-03-12', '2025-03-22']],
  ])('%s × %i keeps the day of its anchor %s', (...row) => {
    const [billingPeriod, count, anchor, expected] = row;
    const grid = from(`${anchor}T00:00:00Z`, { billingPeriod, billingPeriodCount: count });
    expect(dates(boundaries(grid, 4))).toEqual(expected);
  });

  it('brings 29 February back in the next leap year: ANNUAL', () => {
    const grid = from('2024-02-29T00:00:00Z', { billingPeriod: 'ANNUAL' });
    expect(dates(boundaries(grid, 5))).toEqual([
      '2024-02-29',
      '2025-02-28',
      '2026-02-28',
      '2027-02-28',
      '2028-02-29',
    ]);
  });

  it('has no leap day in 2100 and one in 2000', () => {
    const grid = from('2096-02-29T00:00:00Z', { billingPeriod: 'ANNUAL' });
    expect(dates([boundaryAt(grid, 4), boundaryAt(grid, 8), boundaryAt(grid, -96)])).toEqual([
      '2100-02-28',
      '2104-02-29',
      '2000-02-29',
    ]);
  });

  it('goes back in time as it goes forward', () => {
    const grid = from('2025-03-31T00:00:00Z');
    expect(dates([-1, -2, -3, -13].map((k) => boundaryAt(grid, k)))).toEqual([
      '2025-02-28',
      '2025-01-31',
      '2024-12-31',
      '2024-02-29',
    ]);
  });

  it('steps in the local time of the zone, not in UTC', () => {
    // 1 Feb 00:00 in Tokyo is 31 Jan 15:00 UTC: in UTC the 31st would be clamped.
    const grid = from('2026-01-31T15:00:00Z', { timezone: 'Asia/Tokyo' });
    expect(boundaries(grid, 3).map(shown)).toEqual([
      '2026-01-31T15:00Z',
      '2026-02-28T15:00Z',
      '2026-03-31T15:00Z',
    ]);
  });
});

describe('clock changes (12.5)', () => {
  const berlin = from('2026-02-28T01:30:00Z', {
    billingPeriod: 'DAILY',
    timezone: 'Europe/Berlin',
  });

  it('moves a local time that does not exist forward by the gap: 02:30 becomes 03:30', () => {
    expect(shown(boundaryAt(berlin, 29))).toBe('2026-03-29T01:30Z');
  });

  it('comes back to the local time of the anchor the day after', () => {
    expect(shown(boundaryAt(berlin, 28))).toBe('2026-03-28T01:30Z');
    expect(shown(boundaryAt(berlin, 30))).toBe('2026-03-30T00:30Z');
  });

  it('takes the first occurrence of a repeated local time', () => {
    const grid = from('2026-09-25T00:30:00Z', { timezone: 'Europe/Berlin' });
    expect(boundaries(grid, 3).map(shown)).toEqual([
      '2026-09-25T00:30Z',
      '2026-10-25T00:30Z',
      '2026-11-25T01:30Z',
    ]);
  });

  it('keeps an anchor that is itself a second occurrence', () => {
    const grid = from('2026-10-25T01:30:00Z', { timezone: 'Europe/Berlin' });
    expect(boundaries(grid, 2).map(shown)).toEqual(['2026-10-25T01:30Z', '2026-11-25T01:30Z']);
  });

  it.each([
    ['America/New_York', '2026-02-08T07:30:00Z', '2026-03-08T07:30Z'],
    ['America/New_York', '2026-10-01T05:30:00Z', '2026-11-01T05:30Z'],
    ['Australia/Lord_Howe', '2026-09-03T15:45:00Z', '2026-10-03T15:45Z'],
    ['Asia/Kolkata', '2026-01-15T18:30:00Z', '2026-02-15T18:30Z'],
  ])('handles %s: %s to %s', (timezone, anchor, next) => {
    expect(shown(boundaryAt(from(anchor, { timezone }), 1))).toBe(next);
  });

  it('makes the day of a change 23 or 25 hours long', () => {
    const grid = from('2026-01-01T23:00:00Z', {
      billingPeriod: 'DAILY',
      timezone: 'Europe/Berlin',
    });
    const hoursOf = (instant: string): number => {
      const { startMs, endMs } = gridPeriodAt(grid, at(instant));
      return (endMs - startMs) / HOUR_MS;
    };
    expect(
      ['2026-03-29T12:00:00Z', '2026-10-25T12:00:00Z', '2026-10-26T12:00:00Z'].map(hoursOf),
    ).toEqual([23, 25, 24]);
  });

  it('does not leave a day again whose midnight is repeated', () => {
    // In Newfoundland 00:01 became 23:01 of the day before on 29 October 2006.
    const grid = from('2006-10-01T02:30:00Z', {
      billingCycle: 'calendar',
      billingPeriod: 'DAILY',
      timezone: 'America/St_Johns',
    });
    const period = gridPeriodAt(grid, at('2006-10-29T03:00:00Z'));
    expect([period.startMs, period.endMs].map(shown)).toEqual([
      '2006-10-29T02:30Z',
      '2006-10-30T03:30Z',
    ]);
  });

  it('passes over a date that a zone skipped', () => {
    // Samoa had no 30 December 2011.
    const grid = from('2011-12-28T10:00:00Z', { billingPeriod: 'DAILY', timezone: 'Pacific/Apia' });
    const before = gridPeriodAt(grid, at('2011-12-30T09:59:59.999Z'));
    expect([before.startMs, before.endMs].map(shown)).toEqual([
      '2011-12-29T10:00Z',
      '2011-12-30T10:00Z',
    ]);
    const after = gridPeriodAt(grid, before.endMs);
    expect([after.startMs, after.endMs].map(shown)).toEqual([
      '2011-12-30T10:00Z',
      '2011-12-31T10:00Z',
    ]);
  });
});

describe('anchor (12.1)', () => {
  const request: AnchorRequest = {
    billingCycle: 'calendar',
    billingPeriod: 'MONTHLY',
    startMs: day('2026-08-15'),
    billingAnchorMs: null,
    timezone: 'UTC',
  };

  it.each<[BillingPeriod, string, string]>([
    ['DAILY', '2026-08-15T13:00:00Z', '2026-08-16T00:00Z'],
    ['WEEKLY', '2026-08-15T13:00:00Z', '2026-08-17T00:00Z'],
    ['MONTHLY', '2026-08-15T13:00:00Z', '2026-09-01T00:00Z'],
    ['QUARTERLY', '2026-08-15T13:00:00Z', '2026-10-01T00:00Z'],
    ['QUARTERLY', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00Z'],
    ['HALF_YEARLY', '2026-08-15T13:00:00Z', '2027-01-01T00:00Z'],
    ['HALF_YEARLY', '2026-05-15T13:00:00Z', '2026-07-01T00:00Z'],
    ['ANNUAL', '2026-08-15T13:00:00Z', '2027-01-01T00:00Z'],
  ])('calendar %s from %s is %s', (billingPeriod, start, anchor) => {
    const resolved = resolveBillingAnchor({ ...request, billingPeriod, startMs: at(start) });
    expect(shown(resolved)).toBe(anchor);
  });

  it.each<[BillingPeriod, string, string]>([
    ['DAILY', '2026-01-01T00:00:00Z', '2026-01-02T00:00Z'],
    ['WEEKLY', '2026-08-17T00:00:00Z', '2026-08-24T00:00Z'],
    ['MONTHLY', '2026-01-01T00:00:00Z', '2026-02-01T00:00Z'],
    ['QUARTERLY', '2026-01-01T00:00:00Z', '2026-04-01T00:00Z'],
    ['HALF_YEARLY', '2026-01-01T00:00:00Z', '2026-07-01T00:00Z'],
    ['ANNUAL', '2026-01-01T00:00:00Z', '2027-01-01T00:00Z'],
  ])('calendar %s from a boundary %s is the next one (34.13)', (billingPeriod, start, anchor) => {
    const resolved = resolveBillingAnchor({ ...request, billingPeriod, startMs: at(start) });
    expect(shown(resolved)).toBe(anchor);
  });

  it('is the local midnight of the zone', () => {
    const startMs = at('2026-03-31T22:30:00Z');
    // In Berlin it is 1 April, 00:30.
    expect(shown(resolveBillingAnchor({ ...request, startMs, timezone: 'Europe/Berlin' }))).toBe(
      '2026-04-30T22:00Z',
    );
  });

  it.each([
    'Pacific/Kiritimati',
    'Asia/Kathmandu',
    'Europe/Berlin',
    'America/St_Johns',
    'Etc/GMT+12',
  ])(
    'is the midnight after which the next month begins in %s, whatever hour it begins in',
    (timezone) => {
      const format = new Intl.DateTimeFormat('en-GB', {
        timeZone: timezone,
        hourCycle: 'h23',
        day: 'numeric',
        month: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
      });
      const local = (atMs: number): string => format.format(atMs);
      const monthOf = (atMs: number): number => Number(local(atMs).slice(3, 5));
      for (let hour = 0; hour < 72; hour += 1) {
        const startMs = day('2026-03-30') + hour * HOUR_MS;
        const anchorMs = resolveBillingAnchor({ ...request, startMs, timezone });
        const next = String(monthOf(startMs) + 1).padStart(2, '0');
        expect([hour, local(anchorMs)]).toEqual([hour, `01/${next}, 00:00`]);
        expect(anchorMs).toBeGreaterThan(startMs);
      }
    },
  );

  it('does not move later boundaries when midnight does not exist on the anchor day', () => {
    // Paraguay changed its clocks at 00:00 on 1 October 2017.
    const startMs = at('2017-09-15T12:00:00Z');
    const timezone = 'America/Asuncion';
    const billingAnchorMs = resolveBillingAnchor({ ...request, startMs, timezone });
    const grid: BillingGrid = { ...MONTHLY, billingAnchorMs, timezone, billingCycle: 'calendar' };
    // 01:00 local on 1 October, 00:00 local on 1 September and 1 November.
    expect([-1, 0, 1].map((k) => shown(boundaryAt(grid, k)))).toEqual([
      '2017-09-01T04:00Z',
      '2017-10-01T04:00Z',
      '2017-11-01T03:00Z',
    ]);
  });

  it('is the requested one, else the start, with the anniversary cycle', () => {
    const anniversary = { ...request, billingCycle: 'anniversary' } as const;
    const billingAnchorMs = day('2026-09-10');
    expect(resolveBillingAnchor({ ...anniversary, billingAnchorMs })).toBe(billingAnchorMs);
    expect(resolveBillingAnchor(anniversary)).toBe(request.startMs);
  });
});

describe('laws', () => {
  const terms = anyBilling.map((members): BillingGrid => ({ ...MONTHLY, ...members }));

  it('the index of a boundary finds it again', () => {
    const zonesWithoutSkippedDates = terms.filter((grid) => grid.timezone !== 'Pacific/Apia');
    fc.assert(
      fc.property(zonesWithoutSkippedDates, fc.integer({ min: -500, max: 500 }), (grid, k) => {
        expect(boundaryIndexAt(grid, boundaryAt(grid, k))).toBe(k);
        expect(boundaryIndexAt(grid, boundaryAt(grid, k) - 1)).toBe(k - 1);
      }),
    );
  });

  it('finds a day centuries away', () => {
    const grid = from('1900-01-01T00:00:00Z', {
      billingPeriod: 'DAILY',
      timezone: 'Europe/Berlin',
    });
    for (let year = 2400; year < 2500; year += 1) {
      expect(gridPeriodAt(grid, day(`${year}-07-01`)).endMs).toBeGreaterThan(day(`${year}-07-01`));
    }
  });
});
