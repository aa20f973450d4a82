import type { Range } from '../usage-oracle/windows.js';

/** A line of an earlier invoice that is DRAFT or FINALIZED; all money is text. */
export type EarlierLine = {
  /** Null for a true-up of the subscription. */
  readonly itemId: string | null;
  readonly start: number;
  readonly end: number;
  /** Before discounts; absent where no part of a split period follows. */
  readonly amount?: string;
  /** What the line took of the subscription's commitment. */
  readonly inCommitment: string;
  /** What it took of its own. */
  readonly utilized: string;
};

export type EarlierInvoice = {
  readonly period: Range;
  readonly lines: readonly EarlierLine[];
  /** Coupon associations with a discount on it. */
  readonly appliedCouponIds: readonly string[];
};

/**
 * What an invoice has lines of (docs/domain.md 13.3): `trial_start` is the zero invoice of a trial.
 * `period_start` is the opening invoice of the first billed row. `threshold` is that of a row which
 * a threshold invoice closed. `period_end` is that of a row which has ended, also by a
 * cancellation.
 */
export type Reference = 'trial_start' | 'period_start' | 'threshold' | 'period_end' | 'preview';

/** Which invoice is asked for, of a subscription as it is known at that moment. */
export type InvoiceQuestion = {
  readonly reference: Reference;
  /** Row of the ledger that the invoice is for, counted from 0 (docs/domain.md 12.10). */
  readonly rowIndex: number;
  /** Inside of the row; only with `preview`. */
  readonly now: number | null;
  readonly earlier: readonly EarlierInvoice[];
};
