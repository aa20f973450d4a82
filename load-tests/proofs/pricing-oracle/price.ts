import {
  add,
  compare,
  divide,
  floor,
  multiply,
  negate,
  zero,
  type Fraction,
} from '../usage-oracle/fraction.js';
import { exact, smaller, subtract, whole } from './exact.js';
import type { Price, PriceModel, Tier } from './subscription.js';

/** The next whole number that is not below the value. */
function ceiling(value: Fraction): Fraction {
  return negate(floor(negate(value)));
}

function tierCharge({ unitAmount, flatAmount }: Tier, quantity: Fraction): Fraction {
  return add(multiply(exact(unitAmount), quantity), exact(flatAmount));
}

/** The whole quantity at the price of the first tier that reaches it (docs/domain.md 8.3). */
function volumeCharge(tiers: readonly Tier[], quantity: Fraction): Fraction {
  const tier = tiers.find(({ upTo }) => upTo === null || compare(quantity, whole(upTo)) <= 0);
  if (tier === undefined) throw new Error('no open tier');
  return tierCharge(tier, quantity);
}

/** Every tier for the part of the quantity that is in it (docs/domain.md 8.3). */
function slabCharge(tiers: readonly Tier[], quantity: Fraction): Fraction {
  let charge = zero;
  let below = zero;
  for (const tier of tiers) {
    if (compare(quantity, below) <= 0) break;
    const top = tier.upTo === null ? quantity : smaller(quantity, whole(tier.upTo));
    charge = add(charge, tierCharge(tier, subtract(top, below)));
    below = top;
  }
  return charge;
}

function modelCharge(price: PriceModel, quantity: Fraction): Fraction {
  switch (price.model) {
    case 'FLAT_FEE':
      return multiply(exact(price.amount), quantity);
    case 'PACKAGE': {
      const packages = divide(quantity, whole(price.divideBy));
      const counted = price.round === 'up' ? ceiling(packages) : floor(packages);
      return multiply(counted, exact(price.amount));
    }
    case 'TIERED':
      return price.mode === 'VOLUME'
        ? volumeCharge(price.tiers, quantity)
        : slabCharge(price.tiers, quantity);
  }
}

/** Fiat money for a quantity, not rounded (docs/domain.md 8.1–8.3, 8.6); 0 for the quantity 0. */
export function chargeFor(price: Price, quantity: Fraction): Fraction {
  if (compare(quantity, zero) === 0) return zero;
  const charge = modelCharge(price, quantity);
  return price.unitRate === null ? charge : multiply(charge, exact(price.unitRate));
}
