import { describe, expect, test } from 'vitest';
import { decimalOf } from '../../../contract/decimal.js';
import { roundToMinorDigits } from '../money/money.js';
import { settleQuantity } from './quantity-change.js';
import type { AdvanceCharge } from './unused-charge.js';

const at = (text: string): number => Date.parse(text);
const JANUARY = { startMs: at('2026-01-01T00:00Z'), endMs: at('2026-02-01T00:00Z') };
const FLAT = {
  billingModel: 'FLAT_FEE',
  tierMode: 'VOLUME',
  tiers: null,
  transformQuantity: null,
} as const;
/** Exactly half of January is left. */
const HALF = at('2026-01-16T12:00Z');

const january = (net: string, noted = '0'): AdvanceCharge => ({
  ...{ period: JANUARY, net: decimalOf(net), noted: decimalOf(noted) },
});
const fromHalf = (net: string): AdvanceCharge => ({
  ...{ period: { startMs: HALF, endMs: JANUARY.endMs }, net: decimalOf(net) },
});

type Case = {
  readonly amount: string;
  readonly to: string;
  readonly charges: readonly AdvanceCharge[];
  readonly atMs?: number;
  readonly endMs?: number;
};

/** From ten seats to another number of them. */
function settle({ amount, to, charges, atMs = HALF, endMs = JANUARY.endMs }: Case): string {
  const exact = settleQuantity({
    price: { ...FLAT, amount: decimalOf(amount) },
    ...{ from: decimalOf('10'), to: decimalOf(to), charges, pauses: [] },
    rest: { startMs: atMs, endMs },
    proration: { coveredMs: endMs - atMs, fullMs: JANUARY.endMs - JANUARY.startMs },
  });
  return roundToMinorDigits(exact, 'usd').toFixed(2);
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
      { amount: '12', to: '5', charges: [january('108')] },
      '-27.00',
    ],
    [
      // 108.00 with 10 %; the rest costs 54.00 less 27.00 since the price is half.
      'what a lower price gave back is not given back again, and lowers no discount twice',
      { amount: '6', to: '5', charges: [january('108'), fromHalf('-27')] },
      '-13.50',
    ],
    [
      // The rest costs 54.00 and 54.00 more since the price is twice as high.
      'what a higher price cost is given back as it was paid',
      { amount: '24', to: '5', charges: [january('108'), fromHalf('54')] },
      '-54.00',
    ],
    [
      // 10.00 off 120.00: 55.00 of the rest came back, and 30.00 were paid for it in full.
      'a fixed discount that the period had before another price is none of the rest',
      { amount: '6', to: '5', charges: [january('110'), fromHalf('-25')] },
      '-15.00',
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
    expect(settle(change)).toBe(expected);
  });
});
