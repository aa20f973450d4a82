import type { Decimal } from '../../../contract/number/decimal.js';
import type { BillingModel, TierMode } from '../price/price-model.js';

/**
 * One multiplication of a charge: `amount = unitAmount × quantity + flatAmount`, exactly. A price
 * without tiers has a single step, which counts as tier 1 and is open; a package price counts
 * packages in it.
 */
export type PricingStep = {
  /** From 1. */
  readonly tier: number;
  /** Inclusive; null for the open tier. */
  readonly upTo: number | null;
  readonly quantity: Decimal;
  readonly unitAmount: Decimal;
  readonly flatAmount: Decimal;
  readonly amount: Decimal;
};

/** How a quantity was priced (docs/http.md 6, `Explanation.pricing`). No step at quantity 0. */
export type PricingTrace = {
  readonly billingModel: BillingModel;
  /** Null unless the model is TIERED. */
  readonly tierMode: TierMode | null;
  readonly steps: readonly PricingStep[];
  /** Whole packages charged; null unless the model is PACKAGE. */
  readonly packages: Decimal | null;
};

/** A charge before rounding and the steps it is the sum of. */
export type RatedCharge = { readonly amount: Decimal; readonly trace: PricingTrace };
