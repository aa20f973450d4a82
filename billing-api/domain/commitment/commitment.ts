import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { PriceModel } from '../price/price-model.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';

/** Money, or a quantity that is priced at the price of the line or of the time bucket. */
export type CommitmentType = 'amount' | 'quantity';

/** The commitment of a period, or of every window of it (docs/domain.md 11.3). */
export type CommitmentTerms = {
  readonly type: CommitmentType;
  /** Greater than 0: money of the line's currency, or units of its meter. */
  readonly value: Decimal;
  /** At least 1; multiplies the charge beyond the commitment. */
  readonly overageFactor: Decimal;
  /** Whether the unused part of the commitment is charged. */
  readonly isTrueUpEnabled: boolean;
};

/**
 * Terms for the windows whose slot starts in `[startMinute, endMinute)` of the local day. The
 * bucket spans midnight when `endMinute` is smaller than `startMinute` (docs/domain.md 11.5).
 */
export type CommitmentTimeBucket = {
  readonly id: string;
  /** Minutes since local 00:00, 0 to 1439; differs from `endMinute`. */
  readonly startMinute: number;
  /** 0 to 1440. */
  readonly endMinute: number;
  /** Per window. */
  readonly terms: CommitmentTerms;
  /** Replaces the price of the line inside the time bucket. */
  readonly price: PriceModel & { readonly id: string };
};

/** The commitment of a usage line (docs/domain.md 11.3 to 11.5). */
export type LineCommitment = {
  /** Null exactly when only time buckets have a commitment. */
  readonly terms: CommitmentTerms | null;
  /**
   * Whether the terms apply to every bucket by itself (docs/domain.md 11.4) instead of the whole
   * period.
   */
  readonly isWindowed: boolean;
  /** As requested; null means the billing period. */
  readonly duration: BillingPeriod | null;
  /** Only with `isWindowed`; without overlaps, in any order. */
  readonly timeBuckets: readonly CommitmentTimeBucket[];
};

/**
 * The commitment of all usage lines of a subscription together (docs/domain.md 11.1, 11.2). It has
 * no effect unless `amount` is above 0, and either `overageFactor` is above 1 or it is a minimum.
 */
export type SubscriptionCommitment = {
  /** At most the currency's minor digits. */
  readonly amount: Decimal;
  readonly overageFactor: Decimal;
  readonly isTrueUpEnabled: boolean;
  /**
   * With a factor of 1 and true-up. Inputs of invoices that were stored before this had an effect
   * lack it, so that they give the same invoices.
   */
  readonly isMinimum?: true;
  /** As requested; null means the billing period, count included. */
  readonly duration: BillingPeriod | null;
  /** Where its windows are counted from, if it began with another subscription; else absent. */
  readonly windowsFromMs?: InstantMs;
  /** The plan, which names the true-up line. */
  readonly planId: string;
  readonly planDisplayName: string;
};
