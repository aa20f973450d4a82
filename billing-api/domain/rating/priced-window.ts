import type { Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { Proration } from '../calendar/proration.js';
import type { PriceModel } from '../price/price-model.js';

/** How windows are charged: those of a line, or of one of its time buckets, share one rule. */
export type WindowRule = {
  readonly price: PriceModel & { readonly id: string };
  /** Null outside of all time buckets. */
  readonly bucketId: string | null;
  /** The commitment of every window; null without a commitment. */
  readonly committed: WindowCommitment | null;
};

export type WindowCommitment = {
  /** C in money, of a window that is not cut. */
  readonly amount: Decimal;
  readonly overageFactor: Decimal;
  readonly isTrueUpEnabled: boolean;
};

/**
 * A window of a bucketed meter that was priced. A month of minutes has 43,200 of them, so each
 * keeps only its own figures; `windowCharge` computes the rest.
 */
export type PricedWindow = Interval & {
  /** Null where all groups are charged together. */
  readonly group: string | null;
  readonly quantity: Decimal;
  /** The charge at the price, before any commitment; exact. */
  readonly usageAmount: Decimal;
  readonly rule: WindowRule;
  /** The share of the commitment that a cut window has; null for a whole window. */
  readonly scale: Proration | null;
};
