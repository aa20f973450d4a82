import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, decimalOf } from '../../../contract/number/decimal.js';
import { formatMoney, roundMoney } from '../money/money.js';
import type { Tier } from '../price/price-figures.js';
import { rateTieredVolume } from './rate-tiered-volume.js';

/** The tiers of the table in 8.3. */
const TIERS: readonly Tier[] = [
  { unitAmount: decimalOf('0.10'), flatAmount: null, upTo: 100 },
  { unitAmount: decimalOf('0.05'), flatAmount: decimalOf('2'), upTo: 1000 },
  { unitAmount: decimalOf('0.01'), flatAmount: null, upTo: null },
];
const positive = fc
  .bigInt({ min: 1n, max: 10n ** 16n })
  .map((digits) => new Decimal(digits.toString()).dividedBy('1e12'));

describe('TIERED VOLUME (8.3)', () => {
  it.each([
    ['100', 1, '10', '10.00'],
    ['100.5', 2, '7.025', '7.03'],
    ['1000', 2, '52', '52.00'],
    ['1000.001', 3, '10.00001', '10.00'],
    ['1500', 3, '15', '15.00'],
    ['0.5', 1, '0.05', '0.05'],
  ])('charges %s wholly in tier %i: %s, on the line %s', (...row) => {
    const [q, tier, exact, line] = row;
    const { amount, trace } = rateTieredVolume(TIERS, decimalOf(q));
    expect(amount.toFixed()).toBe(exact);
    expect(formatMoney(roundMoney(amount, 'usd'))).toBe(line);
    expect(trace.steps.map((step) => step.tier)).toEqual([tier]);
  });

  it('counts 1000 in the second tier and 1000.001 in the next (34.1)', () => {
    const tierOf = (q: string): number | null | undefined =>
      rateTieredVolume(TIERS, decimalOf(q)).trace.steps[0]?.upTo;
    expect([tierOf('1000'), tierOf('1000.001')]).toEqual([1000, null]);
  });

  it('traces the tier with its flat amount', () => {
    const { trace } = rateTieredVolume(TIERS, decimalOf('100.5'));
    expect(JSON.parse(JSON.stringify(trace))).toEqual({
      billingModel: 'TIERED',
      tierMode: 'VOLUME',
      steps: [
        {
          tier: 2,
          upTo: 1000,
          quantity: '100.5',
          unitAmount: '0.05',
          flatAmount: '2',
          amount: '7.025',
        },
      ],
      packages: null,
    });
  });

  it('charges every quantity at one unit amount, the one of the least tier that holds it', () => {
    fc.assert(
      fc.property(positive, (quantity) => {
        const { steps } = rateTieredVolume(TIERS, quantity).trace;
        const expected = quantity.lte(100) ? '0.1' : quantity.lte(1000) ? '0.05' : '0.01';
        expect(steps.map((step) => step.unitAmount.toFixed())).toEqual([expected]);
        expect(steps[0]?.quantity.equals(quantity)).toBe(true);
      }),
    );
  });

  it('refuses tiers without an open end', () => {
    expect(() => rateTieredVolume(TIERS.slice(0, 2), decimalOf('1001'))).toThrow(RangeError);
  });
});
