import { describe, expect, test } from 'vitest';
import { firstAnchorOf } from './billing-anchor.js';
import { advance, timesLonger, type BillingPeriod, type Length } from './billing-grid.js';
import { instantOf } from './local-time.js';
import { ownPeriodOf } from './own-periods.js';
import { rowsBefore } from './period-ledger.js';
import { happened, plainSubscription } from './plain-subscription.js';
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

  test('the gap and the repetition of half an hour are kept, too', () => {
    const zone = 'Australia/Lord_Howe';
    // 02:00 to 02:30 does not exist; 01:30 to 02:00 comes twice.
    expect(iso(instantOf(zone, Date.parse('2026-10-04T02:15Z')))).toBe('2026-10-03T15:45Z');
    expect(iso(instantOf(zone, Date.parse('2026-04-05T01:45Z')))).toBe('2026-04-04T14:45Z');
  });

  test('the last period ends with the subscription', () => {
    const given = { start: '2026-01-01T00:00Z', until: '2027-01-01T00:00Z' };
    const end = Date.parse('2026-02-10T00:00Z');
    expect(boundaries({ ...given, end })).toEqual([
      '2026-01-01T00:00Z',
      '2026-02-01T00:00Z',
      '2026-02-10T00:00Z',
    ]);
  });

  test('longer periods of an item are counted from the anchor of the subscription', () => {
    const given = { start: '2025-01-10T00:00Z', anchor: '2025-02-15T00:00Z' };
    expect(
      boundaries({ ...given, until: '2025-03-01T00:00Z', ownLength: length('QUARTERLY') }),
    ).toEqual(['2025-01-10T00:00Z', '2025-02-15T00:00Z', '2025-05-15T00:00Z']);
  });
});

/** Kind, first and last instant, anchor and number of each row that begins before an instant. */
function rowsOf(changes: Partial<Subscription>, until: string): readonly string[] {
  return rowsBefore({ ...plainSubscription, ...changes }, Date.parse(until)).map(
    ({ kind, start, end, anchor, number }) =>
      [kind, ...[start, end, anchor].map((at) => iso(at).slice(5, 10)), number].join(' '),
  );
}

describe('what operations do to the ledger (12.10)', () => {
  const tenDays = happened.pause('2026-01-05T00:00Z', '2026-01-15T00:00Z');

  test('a pause moves the end of its row and, on an anniversary cycle, the anchor', () => {
    expect(rowsOf({ history: [tenDays] }, '2026-04-01T00:00Z')).toEqual([
      'regular 01-01 02-11 01-01 0',
      'regular 02-11 03-11 02-11 1',
      'regular 03-11 04-11 02-11 2',
    ]);
  });

  test('on a calendar cycle the anchor stays', () => {
    const given = { history: [tenDays], cycle: 'calendar' } as const;
    expect(rowsOf(given, '2026-04-01T00:00Z')).toEqual([
      'regular 01-01 02-11 02-01 -1',
      'regular 02-11 03-01 02-01 0',
      'regular 03-01 04-01 02-01 1',
    ]);
  });

  test('a pause that lasts beyond grid periods leaves their numbers out', () => {
    const long = happened.pause('2026-01-20T00:00Z', '2026-03-06T00:00Z');
    const given = { history: [long], cycle: 'calendar' } as const;
    expect(rowsOf(given, '2026-04-15T00:00Z')).toEqual([
      'regular 01-01 03-18 02-01 -1',
      'regular 03-18 04-01 02-01 1',
      'regular 04-01 05-01 02-01 2',
    ]);
  });

  test('two pauses of a row add up', () => {
    const oneDay = happened.pause('2026-02-10T00:00Z', '2026-02-11T00:00Z');
    expect(rowsOf({ history: [tenDays, oneDay] }, '2026-03-01T00:00Z')).toEqual([
      'regular 01-01 02-12 01-01 0',
      'regular 02-12 03-12 02-12 1',
    ]);
  });

  test('a threshold invoice splits a row of one grid period', () => {
    const history = [
      happened.threshold('2026-01-10T00:00Z'),
      happened.pause('2026-01-12T00:00Z', '2026-01-22T00:00Z'),
    ];
    expect(rowsOf({ history }, '2026-03-01T00:00Z')).toEqual([
      'threshold 01-01 01-10 01-01 0',
      'regular 01-10 02-11 01-01 0',
      'regular 02-11 03-11 02-11 1',
    ]);
  });

  test('the end of a trial gives an anchor of its own', () => {
    const given = { trialEnd: Date.parse('2026-01-21T00:00Z') };
    expect(rowsOf(given, '2026-03-01T00:00Z')).toEqual([
      'trial 01-01 01-21 01-01 0',
      'regular 01-21 02-21 01-21 0',
      'regular 02-21 03-21 01-21 1',
    ]);
    expect(rowsOf({ ...given, cycle: 'calendar' }, '2026-03-01T00:00Z')).toEqual([
      'trial 01-01 01-21 02-01 -1',
      'regular 01-21 02-01 02-01 -1',
      'regular 02-01 03-01 02-01 0',
    ]);
  });

  test('a cancellation and a known end cut the row that contains them', () => {
    const cancelled = { history: [happened.cancel('2026-01-16T00:00Z')] };
    expect(rowsOf(cancelled, '2026-04-01T00:00Z')).toEqual(['last 01-01 01-16 01-01 0']);
    const ended = { history: [tenDays], end: Date.parse('2026-02-05T00:00Z') };
    expect(rowsOf(ended, '2026-04-01T00:00Z')).toEqual(['last 01-01 02-05 01-01 0']);
  });

  test('a trial that ends with the subscription is followed by nothing', () => {
    const given = {
      trialEnd: Date.parse('2026-01-21T00:00Z'),
      history: [happened.cancel('2026-01-09T00:00Z')],
    };
    expect(rowsOf(given, '2026-04-01T00:00Z')).toEqual(['trial 01-01 01-09 01-01 0']);
  });
});
