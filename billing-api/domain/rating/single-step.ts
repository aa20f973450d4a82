import { ZERO } from '../../../contract/number/decimal.js';
import type { Decimal } from '../../../contract/number/decimal.js';
import type { PricingStep } from './pricing-trace.js';

/** The step of a price without tiers: an open first tier without a flat amount. */
export function singleStep(quantity: Decimal, unitAmount: Decimal): PricingStep {
  const amount = unitAmount.times(quantity);
  return { tier: 1, upTo: null, quantity, unitAmount, flatAmount: ZERO, amount };
}
