import { Decimal, ZERO, minOf } from '../../../contract/number/decimal.js';
import type { Tier } from '../price/price-figures.js';
import type { PricingStep, RatedCharge } from './pricing-trace.js';
import { tierStep } from './tier-step.js';

/** The part of the quantity that falls into each tier it enters, in tier order. */
function slabSteps(tiers: readonly Tier[], quantity: Decimal): PricingStep[] {
  const steps: PricingStep[] = [];
  let remaining = quantity;
  let lowerBound = 0;
  for (const [index, tier] of tiers.entries()) {
    if (remaining.isZero()) break;
    const taken =
      tier.upTo === null ? remaining : minOf(remaining, new Decimal(tier.upTo - lowerBound));
    steps.push(tierStep(tier, index, taken));
    remaining = remaining.minus(taken);
    lowerBound = tier.upTo ?? lowerBound;
  }
  if (!remaining.isZero()) throw new RangeError('the tiers have no open end');
  return steps;
}

/**
 * docs/domain.md 8.3, SLAB: every tier charges the part of the quantity between the bound of the
 * tier below and its own; a flat amount is added once for each tier that is entered. The quantity
 * is greater than 0 and is not rounded before.
 */
export function rateTieredSlab(tiers: readonly Tier[], quantity: Decimal): RatedCharge {
  const steps = slabSteps(tiers, quantity);
  return {
    amount: steps.reduce((sum, step) => sum.plus(step.amount), ZERO),
    trace: { billingModel: 'TIERED', tierMode: 'SLAB', steps, packages: null },
  };
}
