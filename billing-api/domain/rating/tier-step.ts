import { ZERO } from '../../../contract/number/decimal.js';
import type { Decimal } from '../../../contract/number/decimal.js';
import type { Tier } from '../price/price-figures.js';
import type { PricingStep } from './pricing-trace.js';

/** Charges `quantity` in the tier at `index`: unit amount × quantity + flat amount. */
export function tierStep(tier: Tier, index: number, quantity: Decimal): PricingStep {
  // Absent means zero: a tier without a flat amount adds none (docs/domain.md 8.3).
  const flatAmount = tier.flatAmount ?? ZERO;
  return {
    tier: index + 1,
    upTo: tier.upTo,
    quantity,
    unitAmount: tier.unitAmount,
    flatAmount,
    amount: tier.unitAmount.times(quantity).plus(flatAmount),
  };
}
