import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, plain } from '../../../contract/number/decimal.js';
import { HOUR_MS } from '../../../contract/instant.js';
import type { BucketUsage } from '../usage/line-usage.js';
import { USAGE_PRICE } from '../../testing/invoice-samples.js';
import type { Price } from '../price/price.js';
import { rateBuckets } from './rate-buckets.js';
import { ratePrice } from './rate-price.js';
import { sumWindows } from './sum-windows.js';

const bucket = (hour: number, ...groups: [string, string][]): BucketUsage => ({
  startMs: hour * HOUR_MS,
  endMs: (hour + 1) * HOUR_MS,
  groups: groups.map(([text, usage]) => ({ text, usage: decimalOf(usage), eventCount: 1 })),
});
const hourly = (...values: string[]): BucketUsage[] =>
  values.map((value, hour) => bucket(hour, ['', value]));
const price = (change: Partial<Price>): Price => ({ ...USAGE_PRICE, ...change });
const charges = (buckets: readonly BucketUsage[], at: Price): string[] =>
  rateBuckets(buckets, at).map(({ usageAmount }) => plain(usageAmount));
const total = (buckets: readonly BucketUsage[], at: Price): string =>
  plain(sumWindows(rateBuckets(buckets, at)).charge);

const SLAB = price({
  billingModel: 'TIERED',
  tierMode: 'SLAB',
  tiers: [
    { upTo: 4, unitAmount: decimalOf('1.00'), flatAmount: null },
    { upTo: null, unitAmount: decimalOf('0.50'), flatAmount: null },
  ],
});

describe('bucketed meters (8.5)', () => {
  it('MAX per HOUR at 0.10, hourly values 3, 5, none, 2: 1.00', () => {
    expect(total(hourly('3', '5', '0', '2'), price({ amount: decimalOf('0.10') }))).toBe('1');
  });

  it('the same values with tiers: 3.00 + 4.50 + 2.00 = 9.50, not the 7.00 of the sum (34.4)', () => {
    expect(charges(hourly('3', '5', '0', '2'), SLAB)).toEqual(['3', '4.5', '0', '2']);
    expect(total(hourly('3', '5', '0', '2'), SLAB)).toBe('9.5');
    expect(plain(ratePrice(SLAB, decimalOf('10')).amount)).toBe('7');
  });

  it('rounds packages up in every bucket that has usage (34.2)', () => {
    const transformQuantity = { divideBy: 100, round: 'up' as const };
    const packages = price({ billingModel: 'PACKAGE', amount: decimalOf('5'), transformQuantity });
    expect(charges(hourly('1', '0', '100', '101'), packages)).toEqual(['5', '0', '5', '10']);
  });

  it('prices every group of a bucket by itself', () => {
    const groups = [bucket(0, ['', '3'], ['eu', '5'])];
    expect(charges(groups, SLAB)).toEqual(['3', '4.5']);
    expect(rateBuckets(groups, SLAB).map(({ group }) => group)).toEqual(['', 'eu']);
  });
});

describe('laws', () => {
  const values = fc
    .array(fc.nat(100_000), { maxLength: 20 })
    .map((list) => list.map((millis) => plain(new Decimal(millis).dividedBy(1000))));

  it('a price per unit charges the sum of the buckets', () => {
    fc.assert(
      fc.property(values, (drawn) => {
        const flat = price({ amount: decimalOf('0.0025') });
        const sum = drawn.reduce((usage, value) => usage.plus(value), ZERO);
        expect(total(hourly(...drawn), flat)).toBe(plain(sum.times('0.0025')));
      }),
    );
  });

  it('cutting the list of buckets anywhere never changes the sum', () => {
    fc.assert(
      fc.property(values, fc.nat(20), (drawn, at) => {
        const buckets = hourly(...drawn);
        const parts = [buckets.slice(0, at), buckets.slice(at)].map(
          (part) => sumWindows(rateBuckets(part, SLAB)).charge,
        );
        expect(plain((parts[0] ?? ZERO).plus(parts[1] ?? ZERO))).toBe(total(buckets, SLAB));
      }),
    );
  });
});
