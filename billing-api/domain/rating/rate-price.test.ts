import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, plain } from '../../../contract/number/decimal.js';
import type { PriceModel } from '../price/price-model.js';
import { ratePrice } from './rate-price.js';

/** A price that carries the members of every model; only those of its own model are billed. */
const loaded: PriceModel = {
  billingModel: 'FLAT_FEE',
  amount: decimalOf('5'),
  tierMode: 'VOLUME',
  tiers: [
    { unitAmount: decimalOf('1'), flatAmount: decimalOf('7'), upTo: 10 },
    { unitAmount: decimalOf('0.5'), flatAmount: decimalOf('2'), upTo: null },
  ],
  transformQuantity: { divideBy: 100, round: 'up' },
};
const MODELS: readonly PriceModel[] = [
  loaded,
  { ...loaded, billingModel: 'PACKAGE' },
  { ...loaded, billingModel: 'PACKAGE', transformQuantity: { divideBy: 7, round: 'down' } },
  { ...loaded, billingModel: 'TIERED' },
  { ...loaded, billingModel: 'TIERED', tierMode: 'SLAB' },
];

const quantities = fc
  .bigInt({ min: 0n, max: 10n ** 20n })
  .map((digits) => new Decimal(digits.toString()).dividedBy('1e12'));

describe('ratePrice (8)', () => {
  it.each(MODELS)('charges nothing for quantity 0: $billingModel $tierMode', (price) => {
    const { amount, trace } = ratePrice(price, ZERO);
    expect([plain(amount), trace.steps]).toEqual(['0', []]);
  });

  it.each([
    [0, '60'],
    [1, '5'],
    [2, '5'],
    [3, '8'],
    [4, '20'],
  ])('bills the members of its own model only: price %i', (index, charge) => {
    const price = MODELS[index] ?? loaded;
    expect(plain(ratePrice(price, decimalOf('12')).amount)).toBe(charge);
  });

  it('charges exactly the sum of its steps, each unit amount × quantity + flat amount', () => {
    fc.assert(
      fc.property(fc.constantFrom(...MODELS), quantities, (price, quantity) => {
        const { amount, trace } = ratePrice(price, quantity);
        const sum = trace.steps.reduce((total, step) => {
          const product = step.unitAmount.times(step.quantity).plus(step.flatAmount);
          expect(product.toFixed()).toBe(step.amount.toFixed());
          return total.plus(product);
        }, ZERO);
        expect(sum.toFixed()).toBe(amount.toFixed());
        expect(amount.isNegative()).toBe(false);
      }),
    );
  });

  it('gives the same bytes for the same inputs', () => {
    fc.assert(
      fc.property(fc.constantFrom(...MODELS), quantities, (price, quantity) => {
        const copy = new Decimal(quantity.toFixed());
        expect(JSON.stringify(ratePrice(price, copy))).toBe(
          JSON.stringify(ratePrice(price, quantity)),
        );
      }),
    );
  });

  it('refuses a negative quantity and a price that lacks what its model needs', () => {
    expect(() => ratePrice(loaded, decimalOf('-1'))).toThrow(RangeError);
    expect(() => ratePrice({ ...loaded, amount: null }, decimalOf('1'))).toThrow('amount');
    const untiered: PriceModel = { ...loaded, billingModel: 'TIERED', tiers: null };
    expect(() => ratePrice(untiered, decimalOf('1'))).toThrow('tiers');
  });
});
