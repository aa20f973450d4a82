import type { Range } from '../usage-oracle/windows.js';

/** A line of an earlier invoice that is DRAFT or FINALIZED; all money is text. */
export type EarlierLine = {
  /** Null for a true-up of the subscription. */
  readonly itemId: string | null;
  readonly start: number;
  readonly end: number;
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

/** Which invoice is asked for; periods are counted from 0. */
export type InvoiceQuestion = {
  /** The opening invoice, that of a period that has ended, or a look at a running period. */
  readonly reference: 'period_start' | 'period_end' | 'preview';
  readonly periodIndex: number;
  /** Inside of the period; only with `preview`. */
  readonly now: number | null;
  readonly earlier: readonly EarlierInvoice[];
};
