import { describe, expect, test } from 'vitest';
import { decimalOf } from '../../../contract/number/decimal.js';
import { ratePrice } from '../rating/rate-price.js';
import { settle as settleTerms } from './settle.js';
import type { AdvanceCharge } from './unused-charge.js';

const at = (text: string): number => Date.parse(text);
const JANUARY = { startMs: at('2026-01-01T00:00Z'), endMs: at('2026-02-01T00:00Z') };

/** From 100.00 in advance for January to another price on 16 January. */
function settlePrice(
  full: string,
  net = '100',
  { endMs = JANUARY.endMs, gross = net, left = '1' } = {},
) {
  const startMs = at('2026-01-16T00:00Z');
  const terms = {
    full: decimalOf(full),
    left: decimalOf(left),
    rest: { startMs, endMs },
    proration: { coveredMs: endMs - startMs, fullMs: JANUARY.endMs - JANUARY.startMs },
  };
  const charges = [{ period: JANUARY, net: decimalOf(net), gross: decimalOf(gross) }];
  return settleTerms(terms, { charges, pauses: [] }, 'usd').amount.toFixed();
}

describe('a change of price inside a period (23.5)', () => {
  test.each([
    ['200', '100', '51.61'],
    ['100', '100', '0'],
    ['50', '100', '-25.81'],
    ['0', '100', '-51.61'],
    ['200', '50', '77.42'],
  ])('to %s where %s was paid costs %s', (charge, net, expected) => {
    expect(settlePrice(charge, net)).toBe(expected);
  });

  test('of a line that ends before the period sets off what is paid until then alone', () => {
    // (200.00 − 100.00) × 8 ÷ 31: the 8 days after it are given back where it ends.
    expect(settlePrice('200', '100', { endMs: at('2026-01-24T00:00Z') })).toBe('25.81');
  });

  test.each([
    // 103.226 less 5.161, and 46.45 are paid.
    ['200', '90', '1', '51.61'],
    ['100', '90', '1', '0'],
    ['5', '90', '1', '-46.45'],
    // 90.00 less 9.00 were paid: 92.903 less 4.645, and 41.81 less of it.
    ['200', '81', '0.9', '46.45'],
    ['100', '81', '0.9', '0'],
  ])('to %s keeps the fixed discount of %s that were paid, with a share of %s', (...given) => {
    const [full, net, left, expected] = given;
    expect(settlePrice(full, net, { gross: '100', left })).toBe(expected);
  });
});

const FLAT = {
  billingModel: 'FLAT_FEE',
  tierMode: 'VOLUME',
  tiers: null,
  transformQuantity: null,
} as const;
/** Exactly half of January is left. */
const HALF = at('2026-01-16T12:00Z');

const january = (net: string, noted = '0'): AdvanceCharge => ({
  period: JANUARY,
  net: decimalOf(net),
  noted: decimalOf(noted),
});
/** Of 120.00, with a fixed discount. */
const lowered = (net: string): AdvanceCharge => ({ ...january(net), gross: decimalOf('120') });
const fromHalf = (net: string): AdvanceCharge => ({
  period: { startMs: HALF, endMs: JANUARY.endMs },
  net: decimalOf(net),
});

type Case = {
  readonly amount: string;
  readonly to: string;
  /** What percentages leave; all when absent. */
  readonly left?: string;
  readonly charges: readonly AdvanceCharge[];
  readonly atMs?: number;
  readonly endMs?: number;
};

/** What another number of seats costs. */
function settleQuantity({ amount, to, charges, ...given }: Case): string {
  const { left = '1', atMs = HALF, endMs = JANUARY.endMs } = given;
  const price = { ...FLAT, amount: decimalOf(amount) };
  const terms = {
    full: ratePrice(price, decimalOf(to)).amount,
    left: decimalOf(left),
    rest: { startMs: atMs, endMs },
    proration: { coveredMs: endMs - atMs, fullMs: JANUARY.endMs - JANUARY.startMs },
  };
  return settleTerms(terms, { charges, pauses: [] }, 'usd').amount.toFixed(2);
}

describe('another quantity inside a period that is paid (27)', () => {
  const atMs = at('2026-01-16T00:00Z');
  test.each<[string, Case, string]>([
    [
      'more seats cost their time',
      { amount: '12', to: '15', charges: [january('120')], atMs },
      '30.97',
    ],
    [
      'fewer give back their time',
      { amount: '12', to: '7', charges: [january('120')], atMs },
      '-18.58',
    ],
    [
      'a discount is not given back',
      { amount: '12', to: '5', charges: [january('108')], left: '0.9' },
      '-27.00',
    ],
    [
      // 108.00 with 10 %; the rest costs 54.00 less 27.00 since the price is half.
      'what a lower price gave back is not given back again, and lowers no discount twice',
      { amount: '6', to: '5', charges: [january('108'), fromHalf('-27')], left: '0.9' },
      '-13.50',
    ],
    [
      // The rest costs 54.00 and 54.00 more since the price is twice as high.
      'what a higher price cost is given back as it was paid',
      { amount: '24', to: '5', charges: [january('108'), fromHalf('54')], left: '0.9' },
      '-54.00',
    ],
    [
      // 10.00 off 120.00, of which 5.00 stay with the rest.
      'a fixed discount of the period is neither given back nor taken again by fewer seats',
      { amount: '12', to: '5', charges: [lowered('110')] },
      '-30.00',
    ],
    [
      'nor by more seats',
      { amount: '12', to: '10', charges: [lowered('110'), fromHalf('-30')] },
      '30.00',
    ],
    [
      'no seats give back what is paid after it',
      { amount: '12', to: '0', charges: [lowered('70')] },
      '-35.00',
    ],
    [
      'and seats again cost that',
      { amount: '12', to: '10', charges: [lowered('70'), fromHalf('-35')] },
      '35.00',
    ],
    [
      // 50.00 off 120.00, then 10 %: 63.00, of which 31.50 are for the rest.
      'which has its percentage already',
      { amount: '12', to: '10', left: '0.9', charges: [lowered('63'), fromHalf('-31.5')] },
      '31.50',
    ],
    [
      'what is paid for later than the end of the line is none of the rest',
      { amount: '12', to: '5', charges: [january('120')], endMs: at('2026-01-24T06:00Z') },
      '-15.00',
    ],
    [
      'no more than credit notes have left of the charges',
      { amount: '12', to: '0', charges: [january('120', '110')] },
      '-10.00',
    ],
    [
      'all seats give back all of the rest',
      { amount: '12', to: '0', charges: [january('120')] },
      '-60.00',
    ],
  ])('%s', (_, change, expected) => {
    expect(settleQuantity(change)).toBe(expected);
  });
});
