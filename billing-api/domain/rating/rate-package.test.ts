import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, plain } from '../../../contract/number/decimal.js';
import type { TransformQuantity } from '../price/price-model.js';
import { ratePackage } from './rate-package.js';

const FIVE = decimalOf('5');
const positive = fc
  .bigInt({ min: 1n, max: 10n ** 24n })
  .map((digits) => new Decimal(digits.toString()).dividedBy('1e12'));
const transforms = fc.record({
  divideBy: fc.integer({ min: 1, max: 1_000_000 }),
  round: fc.constantFrom('up' as const, 'down' as const),
});

const rated = (quantity: string, transform: TransformQuantity): string[] => {
  const { amount, trace } = ratePackage(FIVE, transform, decimalOf(quantity));
  return [plain(trace.packages ?? ZERO), plain(amount)];
};

describe('PACKAGE (8.2)', () => {
  it.each([
    ['up', '250', '3', '15'],
    ['up', '200', '2', '10'],
    ['up', '1', '1', '5'],
    ['up', '200.01', '3', '15'],
    ['down', '250', '2', '10'],
    ['down', '200', '2', '10'],
    ['down', '1', '0', '0'],
    ['down', '200.01', '2', '10'],
  ] as const)('divide_by 100, rounded %s: %s is %s packages and costs %s', (...row) => {
    const [round, q, n, cost] = row;
    expect(rated(q, { divideBy: 100, round })).toEqual([n, cost]);
  });

  it('looks at the last digit of a long quantity', () => {
    const multiple = '300000000000000000000';
    expect(rated(multiple, { divideBy: 3, round: 'up' })[0]).toBe('100000000000000000000');
    const above = `${multiple}.000000000000000001`;
    expect(rated(above, { divideBy: 3, round: 'up' })[0]).toBe('100000000000000000001');
  });

  it('traces the packages as the quantity of one step', () => {
    const { trace } = ratePackage(FIVE, { divideBy: 100, round: 'up' }, decimalOf('250'));
    expect(JSON.parse(JSON.stringify(trace))).toEqual({
      billingModel: 'PACKAGE',
      tierMode: null,
      steps: [
        { tier: 1, upTo: null, quantity: '3', unitAmount: '5', flatAmount: '0', amount: '15' },
      ],
      packages: '3',
    });
  });

  it('traces no step when no package is full', () => {
    const { amount, trace } = ratePackage(FIVE, { divideBy: 100, round: 'down' }, decimalOf('99'));
    expect([plain(amount), trace.steps, trace.packages?.toFixed()]).toEqual(['0', [], '0']);
  });

  it('never pushes an exact multiple into the next package (34.2)', () => {
    fc.assert(
      fc.property(transforms, fc.bigInt({ min: 1n, max: 10n ** 20n }), (transform, packages) => {
        const quantity = new Decimal(packages.toString()).times(transform.divideBy);
        const { trace } = ratePackage(FIVE, transform, quantity);
        expect(trace.packages?.toFixed()).toBe(packages.toString());
      }),
    );
  });

  it('covers the quantity with the least number of packages, or fills the greatest', () => {
    fc.assert(
      fc.property(transforms, positive, (transform, quantity) => {
        const count = ratePackage(FIVE, transform, quantity).trace.packages ?? ZERO;
        const held = count.times(transform.divideBy);
        const surplus = transform.round === 'up' ? held.minus(quantity) : quantity.minus(held);
        expect(surplus.isNegative() && !surplus.isZero()).toBe(false);
        expect(surplus.lessThan(transform.divideBy)).toBe(true);
      }),
    );
  });

  it('never charges less for more', () => {
    fc.assert(
      fc.property(transforms, positive, positive, (transform, quantity, more) => {
        const low = ratePackage(FIVE, transform, quantity).amount;
        const high = ratePackage(FIVE, transform, quantity.plus(more)).amount;
        expect(high.greaterThanOrEqualTo(low)).toBe(true);
      }),
    );
  });
});
