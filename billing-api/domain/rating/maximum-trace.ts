import type { Decimal } from '../../../contract/number/decimal.js';

/** What the maximum of a price made of the charge of a line (docs/domain.md 8.8). */
export type MaximumTrace = {
  /** Of the price, for a billing period. */
  readonly maximum: Decimal;
  /** What the lines that this one continues were charged of it in the period. */
  readonly chargedBefore: Decimal;
  /** The charge without the maximum. */
  readonly uncapped: Decimal;
};
