import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ONE, ZERO, decimalOf, plain } from '../../../contract/number/decimal.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, parseInstant } from '../../../contract/instant.js';
import type { CommitmentTerms, CommitmentTimeBucket } from '../commitment/commitment.js';
import type { BucketUsage } from '../usage/line-usage.js';
import { USAGE_PRICE } from '../../testing/invoice-samples.js';
import { rateCommittedWindows, type CommittedWindows } from './rate-committed-windows.js';
import { sumWindows } from './sum-windows.js';
import { windowCharge } from './window-charge.js';

const at = (text: string): number => {
  const instant = parseInstant(text);
  if (instant === null) throw new TypeError(`not an instant: ${text}`);
  return instant;
};
const amount = (value: string, change: Partial<CommitmentTerms> = {}): CommitmentTerms => ({
  type: 'amount',
  value: decimalOf(value),
  overageFactor: decimalOf('1.5'),
  isTrueUpEnabled: true,
  ...change,
});
const priced = (id: string, unitAmount: string) => ({
  ...USAGE_PRICE,
  id,
  amount: decimalOf(unitAmount),
});
const used = (startMs: number, usage: string, lengthMs = HOUR_MS): BucketUsage => ({
  startMs,
  endMs: startMs + lengthMs,
  groups: [{ text: '', usage: decimalOf(usage), eventCount: 1 }],
});

const MIDNIGHT = at('2026-05-13T00:00:00Z');
const DAY: CommittedWindows = {
  price: priced('base', '1.00'),
  commitment: { terms: null, isWindowed: true, duration: null, timeBuckets: [] },
  period: { startMs: MIDNIGHT, endMs: MIDNIGHT + DAY_MS },
  grid: { size: 'HOUR', timezone: 'UTC', anchorMs: null },
  buckets: [],
  asOfMs: MIDNIGHT + 2 * DAY_MS,
};
const committed = (
  terms: CommitmentTerms | null,
  timeBuckets: readonly CommitmentTimeBucket[] = [],
) => ({ commitment: { terms, isWindowed: true, duration: null, timeBuckets } });
/** `charge = utilized + overage + true-up` of all windows. */
const sum = (change: Partial<CommittedWindows>): string => {
  const parts = sumWindows(rateCommittedWindows({ ...DAY, ...change }));
  const { charge, utilized, overage, trueUp } = parts;
  return `${plain(charge)} = ${plain(utilized)} + ${plain(overage)} + ${plain(trueUp)}`;
};
/** What every window costs. */
const charges = (change: Partial<CommittedWindows>): string[] =>
  rateCommittedWindows({ ...DAY, ...change }).map((window) => plain(windowCharge(window).charge));

describe('windowed commitment (11.4)', () => {
  const hours = { ...DAY.period, endMs: MIDNIGHT + 4 * HOUR_MS };
  const terms = amount('10', { overageFactor: decimalOf('2') });
  const buckets = [used(MIDNIGHT, '6'), used(MIDNIGHT + HOUR_MS, '15')];
  const last = used(MIDNIGHT + 3 * HOUR_MS, '10');
  const four = { period: hours, buckets: [...buckets, last], ...committed(terms) };

  it('HOUR, C 10, f 2, true-up, u 6, 15, 0, 10: 50 = 26 + 10 + 14', () => {
    expect(charges(four)).toEqual(['10', '20', '10', '10']);
    expect(sum(four)).toBe('50 = 26 + 10 + 14');
  });

  it('without true-up a window without usage takes no part (34.10)', () => {
    const without = committed({ ...terms, isTrueUpEnabled: false });
    expect(charges({ ...four, ...without })).toEqual(['6', '20', '10']);
  });

  it('unused commitment of one window never offsets another (34.10)', () => {
    const period = { ...DAY.period, endMs: MIDNIGHT + 2 * HOUR_MS };
    expect(charges({ ...four, period, buckets })).toEqual(['10', '20']);
  });

  it('the groups of a window are held against its commitment together, each priced anew', () => {
    const groups = ['a', 'b'].map((text) => ({ text, usage: decimalOf('6'), eventCount: 1 }));
    const grouped = [{ ...used(MIDNIGHT, '0'), groups }];
    const period = { ...DAY.period, endMs: MIDNIGHT + HOUR_MS };
    const rated = rateCommittedWindows({ ...DAY, ...four, period, buckets: grouped });
    expect(rated.map(({ group, quantity }) => [group, plain(quantity)])).toEqual([[null, '12']]);
    expect(sum({ ...four, period, buckets: grouped })).toBe('14 = 10 + 4 + 0');
  });

  it('tiers start anew in every group of a window', () => {
    const tiers = [
      { upTo: 4, unitAmount: decimalOf('1.00'), flatAmount: null },
      { upTo: null, unitAmount: decimalOf('0.50'), flatAmount: null },
    ];
    const price = {
      ...priced('base', '0'),
      billingModel: 'TIERED' as const,
      tierMode: 'SLAB' as const,
      tiers,
    };
    const groups = ['a', 'b'].map((text) => ({ text, usage: decimalOf('6'), eventCount: 1 }));
    const period = { ...DAY.period, endMs: MIDNIGHT + HOUR_MS };
    const change = { period, price, buckets: [{ ...used(MIDNIGHT, '0'), groups }] };
    // Twice 4 × 1.00 + 2 × 0.50; all 12 at once would be 8.00.
    expect(charges({ ...change, ...committed(amount('1', { overageFactor: ONE })) })).toEqual([
      '10',
    ]);
  });

  it('a bucket cut at half past has half of the commitment', () => {
    const startMs = MIDNIGHT + HOUR_MS / 2;
    const period = { startMs, endMs: MIDNIGHT + 2 * HOUR_MS };
    const cut = [used(startMs, '8', HOUR_MS / 2)];
    expect(charges({ ...four, period, buckets: cut })).toEqual(['11', '10']);
    const [first, second] = rateCommittedWindows({ ...DAY, ...four, period, buckets: cut });
    expect(first?.scale).toEqual({ coveredMs: HOUR_MS / 2, fullMs: HOUR_MS });
    expect(second?.scale).toBeNull();
  });

  it('a bucket that a clock change shortens or lengthens has the full commitment', () => {
    const timezone = 'Europe/Berlin';
    const grid = { ...DAY.grid, timezone, size: 'DAY' as const };
    for (const [start, end] of [
      ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
      ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ] as const) {
      const period = { startMs: at(start), endMs: at(end) };
      const asOfMs = period.endMs;
      expect(charges({ ...committed(terms), period, grid, asOfMs })).toEqual(['10']);
    }
  });

  it('in a running period only windows that started before now take part', () => {
    const now = MIDNIGHT + HOUR_MS;
    expect(charges({ ...four, buckets: [], asOfMs: now })).toEqual(['10']);
    expect(charges({ ...four, buckets: [], asOfMs: now + 1 })).toEqual(['10', '10']);
    expect(charges({ ...four, buckets: [], asOfMs: MIDNIGHT })).toEqual([]);
  });

  it('a window that has not begun but holds usage is charged, so that quantity and amount agree', () => {
    const later = used(MIDNIGHT + 2 * HOUR_MS, '15');
    const change = { ...four, buckets: [later], asOfMs: MIDNIGHT + 1 };
    // The first hour has begun and is trued up; the second has not and is empty.
    expect(charges(change)).toEqual(['10', '20']);
    expect(charges({ ...change, asOfMs: MIDNIGHT })).toEqual(['20']);
  });

  it('a quantity is money at the price of the line', () => {
    const quantity = committed({ ...terms, type: 'quantity', value: decimalOf('5') });
    const price = priced('base', '2.00');
    expect(charges({ ...four, ...quantity, price, buckets: [used(MIDNIGHT, '6')] })).toEqual([
      '14',
      '10',
      '10',
      '10',
    ]);
  });

  it('never leaves usage out that is in none of its windows', () => {
    const between = [used(MIDNIGHT + 1, '6', MINUTE_MS)];
    expect(() => charges({ ...four, buckets: between })).toThrow('no window');
    const outside = [used(hours.endMs, '6')];
    expect(() => charges({ ...four, buckets: outside })).toThrow('outside');
  });
});

describe('time-of-day buckets (11.5)', () => {
  const working = (change: Partial<CommitmentTerms> = {}): CommitmentTimeBucket => ({
    id: 'working',
    startMinute: 9 * 60,
    endMinute: 17 * 60,
    terms: amount('4', change),
    price: priced('working', '0.80'),
  });
  const hour = (of: number, usage: string): BucketUsage => used(MIDNIGHT + of * HOUR_MS, usage);
  const buckets = [hour(10, '3'), hour(11, '10'), hour(20, '3')];

  it('an ordinary day with true-up: 41.00 = 9.40 + 6.00 + 25.60', () => {
    const change = { buckets, ...committed(null, [working()]) };
    expect(sum(change)).toBe('41 = 9.4 + 6 + 25.6');
    expect(charges(change)).toEqual(['4', '4', '10', '4', '4', '4', '4', '4', '3']);
  });

  it('the same day without true-up: 15.40', () => {
    const change = { buckets, ...committed(null, [working({ isTrueUpEnabled: false })]) };
    expect(sum(change)).toBe('15.4 = 9.4 + 6 + 0');
    expect(charges(change)).toEqual(['2.4', '10', '3']);
  });

  it('its usage money is 13.40', () => {
    const rated = rateCommittedWindows({ ...DAY, buckets, ...committed(null, [working()]) });
    const usage = rated.reduce((total, { usageAmount }) => total.plus(usageAmount), ZERO);
    expect(plain(usage)).toBe('13.4');
    expect([...new Set(rated.map(({ rule }) => rule.bucketId))]).toEqual(['working', null]);
  });

  it('outside of all buckets the terms of the line hold, where it has some', () => {
    const one = { ...working(), startMinute: 0, endMinute: 23 * 60 };
    const without = { ...one, terms: { ...one.terms, isTrueUpEnabled: false } };
    expect(charges(committed(amount('7'), [without]))).toEqual(['7']);
    expect(charges(committed(amount('7', { isTrueUpEnabled: false }), [without]))).toEqual([]);
  });

  it('a quantity is money at the price of the bucket', () => {
    const terms = amount('5', { type: 'quantity' });
    const one = { ...working(), endMinute: 10 * 60, terms };
    expect(charges(committed(null, [one]))).toEqual(['4']);
  });

  const night: CommitmentTimeBucket = { ...working(), startMinute: 0, endMinute: 360 };
  const berlin = (start: string, end: string, change: Partial<CommittedWindows> = {}) => ({
    ...committed(null, [night]),
    period: { startMs: at(start), endMs: at(end) },
    grid: { ...DAY.grid, timezone: 'Europe/Berlin' },
    asOfMs: at(end),
    ...change,
  });

  it.each([
    ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', '20 = 0 + 0 + 20'],
    ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', '28 = 0 + 0 + 28'],
    ['2026-05-12T22:00:00Z', '2026-05-13T22:00:00Z', '24 = 0 + 0 + 24'],
  ])('Europe/Berlin, 00:00 to 06:00, %s to %s: %s (34.12)', (start, end, expected) => {
    expect(sum(berlin(start, end))).toBe(expected);
  });

  it('wraps past midnight in local time', () => {
    const late = { ...night, startMinute: 22 * 60, endMinute: 60 };
    const change = berlin('2026-05-12T22:00:00Z', '2026-05-13T22:00:00Z');
    const rated = rateCommittedWindows({ ...DAY, ...change, ...committed(null, [late]) });
    expect(rated.map(({ startMs }) => new Date(startMs).toISOString().slice(11, 16))).toEqual([
      '22:00',
      '20:00',
      '21:00',
    ]);
  });

  it('a window that begins inside its slot belongs to the slot it has by the clock', () => {
    // On Lord Howe Island 02:00 becomes 02:30 on 4 October 2026: the 02 hour begins at 02:30.
    const two = { ...night, startMinute: 120, endMinute: 180 };
    const change = berlin('2026-10-03T14:00:00Z', '2026-10-04T13:00:00Z', {
      grid: { ...DAY.grid, timezone: 'Australia/Lord_Howe' },
      ...committed(null, [two]),
    });
    expect(charges(change)).toEqual(['4']);
  });

  it('keeps minutes for meters of 15 minutes', () => {
    const short = { ...night, startMinute: 9 * 60 + 45, endMinute: 10 * 60 + 15 };
    const grid = { ...DAY.grid, size: '15MIN' as const };
    const rated = rateCommittedWindows({ ...DAY, grid, ...committed(null, [short]) });
    expect(rated.map(({ startMs }) => (startMs - MIDNIGHT) / MINUTE_MS)).toEqual([585, 600]);
  });
});

describe('laws', () => {
  const usages = fc.array(fc.nat(20_000), { minLength: 24, maxLength: 24 });
  const terms = fc.record({
    value: fc.integer({ min: 1, max: 20_000 }),
    factor: fc.nat(2000),
    isTrueUpEnabled: fc.boolean(),
  });
  const inputs = fc.record({
    usages,
    base: fc.option(terms),
    bucket: terms,
    startMinute: fc.integer({ min: 0, max: 1439 }),
    length: fc.integer({ min: 1, max: 1439 }),
    startOffset: fc.nat(HOUR_MS - 1),
  });
  const millis = (value: number): Decimal => new Decimal(value).dividedBy(1000);
  type Drawn = typeof inputs extends fc.Arbitrary<infer T> ? T : never;
  const termsOf = (drawn: Drawn['bucket']): CommitmentTerms => ({
    type: 'amount',
    value: millis(drawn.value),
    overageFactor: millis(drawn.factor).plus(1),
    isTrueUpEnabled: drawn.isTrueUpEnabled,
  });
  /** A day that begins inside its first hour, so that this hour is cut. */
  const lineOf = (drawn: Drawn): CommittedWindows => {
    const period = { startMs: MIDNIGHT + drawn.startOffset, endMs: DAY.period.endMs };
    const bucket = {
      id: 'bucket',
      startMinute: drawn.startMinute,
      endMinute: (drawn.startMinute + drawn.length) % 1440,
      terms: termsOf(drawn.bucket),
      price: priced('bucket', '0.80'),
    };
    const base = drawn.base === null ? null : termsOf(drawn.base);
    const buckets = drawn.usages.map((usage, index): BucketUsage => {
      const startMs = Math.max(MIDNIGHT + index * HOUR_MS, period.startMs);
      return { ...used(startMs, plain(millis(usage))), endMs: MIDNIGHT + (index + 1) * HOUR_MS };
    });
    return { ...DAY, period, buckets, ...committed(base, [bucket]) };
  };

  it('the sum is that of the windows, part by part', () => {
    fc.assert(
      fc.property(inputs, (drawn) => {
        const windows = rateCommittedWindows(lineOf(drawn));
        const total = sumWindows(windows);
        for (const part of ['charge', 'utilized', 'overageBase', 'overage', 'trueUp'] as const) {
          const sumOf = windows.reduce((all, one) => all.plus(windowCharge(one)[part]), ZERO);
          expect(sumOf.minus(total[part]).abs().lessThan('1e-100')).toBe(true);
        }
        const { charge, utilized, overage, trueUp } = total;
        expect(plain(utilized.plus(overage).plus(trueUp).toDecimalPlaces(100))).toBe(
          plain(charge.toDecimalPlaces(100)),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('splitting the usage window between two windows never changes the sum', () => {
    fc.assert(
      fc.property(inputs, fc.integer({ min: 1, max: 23 }), (drawn, hour) => {
        const line = lineOf(drawn);
        const middle = MIDNIGHT + hour * HOUR_MS;
        const parts = [
          { ...line.period, endMs: middle },
          { ...line.period, startMs: middle },
        ].map((period) => {
          const buckets = line.buckets.filter(
            ({ startMs }) => startMs >= period.startMs && startMs < period.endMs,
          );
          return sumWindows(rateCommittedWindows({ ...line, period, buckets })).charge;
        });
        const whole = sumWindows(rateCommittedWindows(line)).charge;
        const together = (parts[0] ?? ZERO).plus(parts[1] ?? ZERO);
        expect(plain(together.toDecimalPlaces(100))).toBe(plain(whole.toDecimalPlaces(100)));
      }),
      { numRuns: 50 },
    );
  });

  it('more usage in one window never costs less', () => {
    fc.assert(
      fc.property(inputs, fc.nat(23), fc.nat(9000), (drawn, index, more) => {
        const raised = drawn.usages.map((usage, at) => (at === index ? usage + more : usage));
        const [less, greater] = [drawn, { ...drawn, usages: raised }].map(
          (one) => sumWindows(rateCommittedWindows(lineOf(one))).charge,
        );
        expect(greater?.greaterThanOrEqualTo(less ?? ZERO)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
