import type { SeededRandom } from '../../load-tests/harness/seeded-random.js';
import type { Price } from '../../load-tests/proofs/pricing-oracle/subscription.js';

/** A price of any model, as the independent oracle writes it down. */
export function drawPrice(random: SeededRandom): Price {
  const amount = random.pick(['0.0025', '0.3', '1', '7.77']);
  switch (random.below(3)) {
    case 0:
      return { model: 'FLAT_FEE', amount, unitRate: null };
    case 1:
      return { model: 'PACKAGE', amount, divideBy: 7, round: 'up', unitRate: null };
    default: {
      const tiers = [
        { unitAmount: amount, flatAmount: '0', upTo: 10 },
        { unitAmount: '0.125', flatAmount: '2', upTo: null },
      ];
      return { model: 'TIERED', mode: random.pick(['VOLUME', 'SLAB']), tiers, unitRate: null };
    }
  }
}

/** The members of a request that make the same price. */
export function priceBody(price: Price): object {
  if (price.model === 'FLAT_FEE') return { amount: price.amount };
  if (price.model === 'PACKAGE') {
    return { amount: price.amount, transform_quantity: { divide_by: price.divideBy } };
  }
  const tiers = price.tiers.map(({ unitAmount, flatAmount, upTo }) => ({
    unit_amount: unitAmount,
    flat_amount: flatAmount,
    ...(upTo === null ? {} : { up_to: upTo }),
  }));
  return { tier_mode: price.mode, tiers };
}
