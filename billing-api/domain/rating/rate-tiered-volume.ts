import type { Decimal } from '../../../contract/number/decimal.js';
import type { Tier } from '../price/price-figures.js';
import type { RatedCharge } from './pricing-trace.js';
import { tierStep } from './tier-step.js';

/**
 * docs/domain.md 8.3, VOLUME: the whole quantity in the first tier whose inclusive bound it does
 * not exceed, else in the open one. The quantity is greater than 0 and is not rounded before.
 */
export function rateTieredVolume(tiers: readonly Tier[], quantity: Decimal): RatedCharge {
  const index = tiers.findIndex(
    (tier) => tier.upTo === null || quantity.lessThanOrEqualTo(tier.upTo),
  );
  const tier = tiers[index];
  if (tier === undefined) throw new RangeError('the tiers have no open end');
  const step = tierStep(tier, index, quantity);
  return {
    amount: step.amount,
    trace: { billingModel: 'TIERED', tierMode: 'VOLUME', steps: [step], packages: null },
  };
}
