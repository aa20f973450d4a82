import type { Decimal } from '../../../contract/number/decimal.js';
import type { PriceModel } from '../price/price-model.js';
import type { PricingTrace, RatedCharge } from './pricing-trace.js';

/** What a price charges for a quantity of 0 or more; exact. */
export type Charger = (quantity: Decimal) => Decimal;

/**
 * A billing model: all that is asked of it once a price is complete (docs/domain.md 8). Its name,
 * and what it needs of a price, are in `price/price-model.ts`.
 */
export type RatedModel = {
  /** The charge of a quantity greater than 0, unrounded, with its steps. */
  readonly rate: (price: PriceModel, quantity: Decimal) => RatedCharge;
  /** What the trace of quantity 0, which costs nothing, has besides the model. */
  readonly nothing: (price: PriceModel) => Pick<PricingTrace, 'tierMode' | 'packages'>;
  /** A faster way to the charge alone; null where `rate` is the fastest. */
  readonly charger: (price: PriceModel) => Charger | null;
  /** Whether buckets cost together what their sum costs (docs/domain.md 8.5). */
  readonly isLinear: boolean;
  /** Whether each step has a row of its own in print; else one stands in the row of the line. */
  readonly hasStepRows: boolean;
};

/** A member that a complete price of the model has. @throws TypeError where it lacks it. */
export function present<T>(member: T | null, name: string): T {
  if (member === null) throw new TypeError(`the price has no ${name}`);
  return member;
}
