import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, decimalOf, plain } from '../../../contract/number/decimal.js';
import { AssertionFailed } from '../../../runtime/failure.js';
import { USAGE_PRICE } from '../../testing/invoice-samples.js';
import type { Tier } from '../price/price-figures.js';
import type { PriceModel } from '../price/price-model.js';
import { createCharger } from './create-charger.js';
import { ratePrice } from './rate-price.js';

describe('createCharger', () => {
  const micros = fc.nat(10_000_000).map((of) => new Decimal(of).dividedBy(100_000));
  const bounds = fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 4 });
  const tiersOf = (upTos: readonly number[], amounts: readonly Decimal[]): readonly Tier[] => {
    const ascending = [...upTos].sort((left, right) => left - right);
    return [...ascending, null].map((upTo, index) => ({
      upTo,
      unitAmount: amounts[2 * index] ?? decimalOf('1'),
      flatAmount: index % 2 === 0 ? null : (amounts[2 * index + 1] ?? null),
    }));
  };
  const prices = fc
    .record({
      billingModel: fc.constantFrom('FLAT_FEE', 'PACKAGE', 'TIERED'),
      tierMode: fc.constantFrom('VOLUME', 'SLAB'),
      tiers: fc.tuple(bounds, fc.array(micros, { minLength: 10, maxLength: 10 })),
      divideBy: fc.integer({ min: 1, max: 50 }),
    })
    .map(({ billingModel, tierMode, tiers, divideBy }): PriceModel => ({
      ...USAGE_PRICE,
      billingModel,
      tierMode,
      tiers: tiersOf(...tiers),
      transformQuantity: { divideBy, round: 'up' },
    }));
  const quantities = fc.oneof(
    micros.map((of) => of.times(2)),
    fc.nat(100).map((of) => new Decimal(of)),
  );

  it('fails for a SLAB price without tiers', () => {
    const price = {
      ...USAGE_PRICE,
      billingModel: 'TIERED',
      tierMode: 'SLAB',
      tiers: null,
    } as const;
    expect(() => createCharger(price)).toThrow(AssertionFailed);
  });

  it('charges what ratePrice does, of every model and at every edge', () => {
    fc.assert(
      fc.property(prices, quantities, (price, quantity) => {
        const charged = createCharger(price)(quantity);
        expect(plain(charged)).toBe(plain(ratePrice(price, quantity).amount));
      }),
      { numRuns: 500 },
    );
  });
});
