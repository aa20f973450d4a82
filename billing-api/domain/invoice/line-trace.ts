import type { AggregationType } from '../../../contract/aggregation.js';
import type { Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import type { CommitmentType } from '../commitment/commitment.js';
import type { UsageResetPeriod } from '../entitlement/entitlement.js';
import type { PriceModel } from '../price/price.js';
import type { PricingTrace } from '../rating/pricing-trace.js';

/** How a line's amount came about: enough to compute it again by hand (api.md 6, Explanation). */
export type LineTrace = {
  readonly timezone: string;
  /** Usage window or charged period. */
  readonly window: Interval;
  /** Null unless the line is of usage. */
  readonly usage: UsageTrace | null;
  /** Null for a line that is priced by `windows`, and for a true-up line. */
  readonly pricing: PricingTrace | null;
  /** Every window that was priced, in the order of time; null without a bucketed meter. */
  readonly windows: readonly PricedWindow[] | null;
  readonly commitment: CommitmentTrace | null;
  readonly proration: Proration | null;
  readonly rounding: Rounding;
  /** In the order in which they were taken; line coupons first. */
  readonly discounts: readonly DiscountTrace[];
};

export type UsageTrace = {
  readonly meterId: string;
  readonly meterVersion: number;
  readonly eventName: string;
  readonly aggregationType: AggregationType;
  /** Of the meter; an event counts when it passes these and the price's own. */
  readonly filters: readonly MeterFilter[];
  readonly filterValues: Readonly<Record<string, readonly string[]>>;
  readonly eventCount: number;
  /** Aggregated quantity. */
  readonly raw: Decimal;
  /** What was left after the allowance, and priced. */
  readonly billed: Decimal;
  /** Null where no entitlement applies. */
  readonly allowance: AllowanceTrace | null;
};

export type AllowanceTrace = {
  /** Null means unlimited: nothing is billed, and there are no windows. */
  readonly limit: Decimal | null;
  readonly resetPeriod: UsageResetPeriod | null;
  /** Reset windows that meet the usage window, in the order of time. */
  readonly windows: readonly AllowanceWindow[];
};

/** One reset window of an allowance, as a line found and left it. */
export type AllowanceWindow = Interval & {
  /** Usage of the window before the line, that of other lines which share it included. */
  readonly usedBefore: Decimal;
  readonly usedUntil: Decimal;
  /** What was left for the line. */
  readonly free: Decimal;
};

/** How the windows of a line, or of one of its time buckets, are charged; they share one. */
export type WindowRule = {
  readonly price: PriceModel & { readonly id: string };
  /** Null outside of all time buckets. */
  readonly bucketId: string | null;
  /** What every window is committed to; null for plain usage. */
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
 * keeps only what is its own; `windowCharge` tells the rest.
 */
export type PricedWindow = Interval & {
  /** Null where all groups are charged together. */
  readonly group: string | null;
  readonly quantity: Decimal;
  /** The charge at the price, before any commitment; exact. */
  readonly usageAmount: Decimal;
  readonly rule: WindowRule;
  /** Share of the commitment that holds for a window which is cut; null for a whole one. */
  readonly scale: Proration | null;
};

/** The share of a commitment in a line (domain.md 11). */
export type CommitmentTrace = {
  readonly level: 'subscription' | 'line';
  readonly type: CommitmentType;
  /** C in money. */
  readonly amount: Decimal;
  /** Of it, on earlier invoices and by earlier lines of this one. */
  readonly usedBefore: Decimal;
  readonly inCommitment: Decimal;
  /** What goes beyond the commitment, at the normal price. */
  readonly overageBase: Decimal;
  readonly overageFactor: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
  /** The whole charge of which this line is one of two parts; null for a whole one. */
  readonly splitOf: Decimal | null;
};

/** `coveredMs / fullMs` of a full charge or commitment; exact milliseconds. */
export type Proration = { readonly coveredMs: number; readonly fullMs: number };

export type Rounding = {
  readonly exact: Decimal;
  readonly rounded: Decimal;
  readonly digits: number;
  /** `largest_remainder`: a part of a rounded sum (domain.md 6.5). */
  readonly mode: 'half_up_away_from_zero' | 'largest_remainder';
};

/** What one coupon took off a line. */
export type DiscountTrace = {
  readonly couponAssociationId: string;
  /** What the discount was computed from, over all lines it applies to. */
  readonly base: Decimal;
  /** Of this line. */
  readonly amount: Decimal;
};
