import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf } from '../../../contract/number/decimal.js';
import { formatMoney, roundMoney } from '../money/money.js';
import type { Tier } from '../price/price-figures.js';
import { rateTieredSlab } from './rate-tiered-slab.js';

/** The tiers of the table in 8.3. */
const TIERS: readonly Tier[] = [
  { unitAmount: decimalOf('0.10'), flatAmount: null, upTo: 100 },
  { unitAmount: decimalOf('0.05'), flatAmount: decimalOf('2'), upTo: 1000 },
  { unitAmount: decimalOf('0.01'), flatAmount: null, upTo: null },
];

const positive = fc
  .bigInt({ min: 1n, max: 10n ** 16n })
  .map((digits) => new Decimal(digits.toString()).dividedBy('1e12'));
const cents = fc.integer({ min: 0, max: 100_000 }).map((units) => new Decimal(units).div(10_000));

/** Ascending tiers with an open end; any of them may have a flat amount. */
const tierLists = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 5000 }), { minLength: 0, maxLength: 6 }),
    fc.array(fc.tuple(cents, fc.option(cents)), { minLength: 7, maxLength: 7 }),
  )
  .map(([bounds, figures]): readonly Tier[] => {
    const ascending = [...bounds.sort((a, b) => a - b), null];
    return ascending.map((upTo, index) => {
      const [unitAmount, flatAmount] = figures[index] ?? [ZERO, null];
      return { unitAmount, flatAmount, upTo };
    });
  });

describe('TIERED SLAB (8.3)', () => {
  it.each([
    ['100', '10', '10.00'],
    ['100.5', '12.025', '12.03'],
    ['1000', '57', '57.00'],
    ['1000.001', '57.00001', '57.00'],
    ['1500', '62', '62.00'],
    ['0.5', '0.05', '0.05'],
  ])('charges %s by its parts: %s, on the line %s', (q, exact, line) => {
    const { amount } = rateTieredSlab(TIERS, decimalOf(q));
    expect(amount.toFixed()).toBe(exact);
    expect(formatMoney(roundMoney(amount, 'usd'))).toBe(line);
  });

  it('adds a flat amount once for each tier that is entered, not at its lower bound', () => {
    const flats = (q: string): string[] =>
      rateTieredSlab(TIERS, decimalOf(q)).trace.steps.map((step) => step.flatAmount.toFixed());
    expect(flats('100')).toEqual(['0']);
    expect(flats('100.000000000000000001')).toEqual(['0', '2']);
  });

  it('traces every tier that is entered', () => {
    const { trace } = rateTieredSlab(TIERS, decimalOf('1500'));
    const rows = trace.steps.map((step) => [
      step.tier,
      step.upTo,
      step.quantity.toFixed(),
      step.amount.toFixed(),
    ]);
    expect(rows).toEqual([
      [1, 100, '100', '10'],
      [2, 1000, '900', '47'],
      [3, null, '500', '5'],
    ]);
  });

  it('prices every unit exactly once', () => {
    fc.assert(
      fc.property(tierLists, positive, (tiers, quantity) => {
        const { steps } = rateTieredSlab(tiers, quantity).trace;
        const priced = steps.reduce((sum, step) => sum.plus(step.quantity), ZERO);
        expect(priced.toFixed()).toBe(quantity.toFixed());
        expect(steps.every((step) => step.quantity.greaterThan(0))).toBe(true);
      }),
    );
  });

  it('charges the sum of its steps, and never less for more', () => {
    fc.assert(
      fc.property(tierLists, positive, positive, (tiers, quantity, more) => {
        const { amount, trace } = rateTieredSlab(tiers, quantity);
        const sum = trace.steps.reduce((total, step) => total.plus(step.amount), ZERO);
        expect(sum.toFixed()).toBe(amount.toFixed());
        const high = rateTieredSlab(tiers, quantity.plus(more)).amount;
        expect(high.greaterThanOrEqualTo(amount)).toBe(true);
      }),
    );
  });

  it('does not jump at a bound when the next tier has no flat amount', () => {
    fc.assert(
      fc.property(tierLists, (tiers) => {
        const smooth = tiers.map((tier) => ({ ...tier, flatAmount: null }));
        const dearest = smooth.reduce((max, tier) => Decimal.max(max, tier.unitAmount), ZERO);
        const crumb = decimalOf('0.000001');
        for (const { upTo } of smooth) {
          const bound = new Decimal(upTo ?? 1);
          const at = rateTieredSlab(smooth, bound).amount;
          const above = rateTieredSlab(smooth, bound.plus(crumb)).amount;
          expect(above.minus(at).lessThanOrEqualTo(dearest.times(crumb))).toBe(true);
        }
      }),
    );
  });

  it('refuses tiers without an open end', () => {
    expect(() => rateTieredSlab(TIERS.slice(0, 2), decimalOf('1001'))).toThrow(RangeError);
  });
});
