import { describe, expect, test } from 'vitest';
import { firstAnchorOf } from './billing-anchor.js';
import { advance, timesLonger, type BillingPeriod, type Length } from './billing-grid.js';
import { instantOf } from './local-time.js';
import { ownPeriodOf } from './own-periods.js';
import { rowsBefore } from './period-ledger.js';
import { plainSubscription } from './plain-subscription.js';
import type { Subscription } from './subscription.js';

function iso(instant: number): string {
  return new Date(instant).toISOString().replace(':00.000Z', 'Z');
}

/** The start of each of the first periods, and the end of the last of them. */
function boundaries(
  changes: Partial<Omit<Subscription, 'start' | 'givenAnchor'>> & {
    start: string;
    anchor?: string;
    until: string;
    ownLength?: Length;
  },
): readonly string[] {
  const { start, anchor, until, ownLength, ...others } = changes;
  const subscription = {
    ...plainSubscription,
    ...others,
    start: Date.parse(start),
    givenAnchor: anchor === undefined ? null : Date.parse(anchor),
  };
  const times = timesLonger(ownLength ?? subscription.length, subscription.length) ?? 1;
  const periods = rowsBefore(subscription, Date.parse(until)).map((row) =>
    ownPeriodOf(subscription, row, times),
  );
  const starts = periods.map(({ start: each }) => iso(each));
  return [...new Set([...starts, iso(periods.at(-1)?.end ?? 0)])];
}

function length(period: BillingPeriod, count = 1): Length {
  return { period, count };
}

describe('boundaries (12)', () => {
  test('the 31st comes back after a short month', () => {
    expect(boundaries({ start: '2026-01-31T00:00Z', until: '2026-04-01T00:00Z' })).toEqual([
      '2026-01-31T00:00Z',
      '2026-02-28T00:00Z',
      '2026-03-31T00:00Z',
      '2026-04-30T00:00Z',
    ]);
  });

  test('quarters from 30 November are clamped to February alone', () => {
    const given = { start: '2025-11-30T00:00Z', until: '2026-06-01T00:00Z' };
    expect(boundaries({ ...given, length: length('QUARTERLY') })).toEqual([
      '2025-11-30T00:00Z',
      '2026-02-28T00:00Z',
      '2026-05-30T00:00Z',
      '2026-08-30T00:00Z',
    ]);
  });

  test('years from 29 February keep the leap day', () => {
    const given = { start: '2024-02-29T00:00Z', until: '2027-12-31T00:00Z' };
    expect(boundaries({ ...given, length: length('ANNUAL') })).toEqual([
      '2024-02-29T00:00Z',
      '2025-02-28T00:00Z',
      '2026-02-28T00:00Z',
      '2027-02-28T00:00Z',
      '2028-02-29T00:00Z',
    ]);
  });

  test('a first period is never longer than a full one', () => {
    const annual = { start: '2025-01-10T00:00Z', anchor: '2025-06-15T00:00Z' };
    expect(boundaries({ ...annual, until: '2025-02-01T00:00Z', length: length('ANNUAL') })).toEqual(
      ['2025-01-10T00:00Z', '2025-06-15T00:00Z'],
    );
    const thirds = { start: '2025-01-10T00:00Z', anchor: '2025-02-15T00:00Z' };
    expect(
      boundaries({ ...thirds, until: '2025-02-01T00:00Z', length: length('MONTHLY', 3) }),
    ).toEqual(['2025-01-10T00:00Z', '2025-02-15T00:00Z']);
  });

  test('a calendar start on a boundary gets the next one', () => {
    const given = { start: '2026-01-01T00:00Z', until: '2026-01-02T00:00Z' };
    expect(boundaries({ ...given, cycle: 'calendar' })).toEqual([
      '2026-01-01T00:00Z',
      '2026-02-01T00:00Z',
    ]);
  });

  test.each([
    ['DAILY', '2026-05-15T22:00Z'],
    ['WEEKLY', '2026-05-17T22:00Z'],
    ['MONTHLY', '2026-05-31T22:00Z'],
    ['QUARTERLY', '2026-06-30T22:00Z'],
    ['HALF_YEARLY', '2026-06-30T22:00Z'],
    ['ANNUAL', '2026-12-31T23:00Z'],
  ] as const)('the calendar anchor of %s is local', (period, anchor) => {
    const start = Date.parse('2026-05-15T10:00Z');
    const given = { ...plainSubscription, start, zone: 'Europe/Berlin', length: length(period) };
    expect(iso(firstAnchorOf({ ...given, cycle: 'calendar' }))).toBe(anchor);
  });

  test('a local time in the gap moves forward, a repeated one is its first occurrence', () => {
    const zone = 'Europe/Berlin';
    const from = Date.parse('2026-02-28T01:30Z');
    const to = (times: number): string =>
      iso(advance(zone, from, { length: length('DAILY'), times }));
    expect(to(28)).toBe('2026-03-28T01:30Z');
    expect(to(29)).toBe('2026-03-29T01:30Z');
    expect(to(30)).toBe('2026-03-30T00:30Z');
    expect(iso(instantOf(zone, Date.parse('2026-10-25T02:30Z')))).toBe('2026-10-25T00:30Z');
    expect(iso(instantOf(zone, Date.parse('2026-10-25T03:00Z')))).toBe('2026-10-25T02:00Z');
  });
});
