import type { Decimal } from '../../../contract/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';

/** What a coupon takes off (domain.md 14). */
export type CouponTerms = {
  readonly id: string;
  readonly cadence: 'once' | 'repeated' | 'forever';
  /** Applications at most, of a `repeated` coupon; else null. */
  readonly durationInPeriods: number | null;
} & (
  | { readonly type: 'fixed'; readonly amountOff: Decimal }
  | { readonly type: 'percentage'; readonly percentageOff: Decimal }
);

/** A coupon on a subscription, on a phase of it (with the phase's dates) or on a line item. */
export type CouponAssociation = {
  readonly id: string;
  readonly coupon: CouponTerms;
  /** Null for a coupon on all of the invoice. */
  readonly lineItemId: string | null;
  /** `Infinity` without an end. */
  readonly validity: Interval;
  /** Applications on other invoices that are neither VOIDED nor SKIPPED (14.4). */
  readonly applicationCount: number;
};

/** A discount that an invoice takes (domain.md 14.8); one of 0 is none. */
export type CouponApplication = {
  readonly associationId: string;
  readonly couponId: string;
  readonly lineItemId: string | null;
  readonly discountType: 'fixed' | 'percentage';
  /** Null for a fixed discount. */
  readonly discountPercentage: Decimal | null;
  /** What the earlier coupons left of the lines it applies to. */
  readonly originalPrice: Decimal;
  /** The discount; greater than 0. */
  readonly discountedAmount: Decimal;
  /** `originalPrice − discountedAmount`. */
  readonly finalPrice: Decimal;
};

export type TaxLevel = 'invoice' | 'subscription' | 'customer' | 'tenant';

export type TaxRateTerms = {
  readonly id: string;
  /** ACTIVE and published. */
  readonly isActive: boolean;
} & (
  | { readonly type: 'percentage'; readonly percentage: Decimal }
  | { readonly type: 'fixed'; readonly fixedValue: Decimal }
);

/** A tax rate on an invoice, a subscription, a customer or, applied by itself, on all of them. */
export type TaxAssociation = {
  readonly id: string;
  readonly level: TaxLevel;
  /** The record of that level. */
  readonly entityId: string;
  readonly rate: TaxRateTerms;
  /** Lower comes first. */
  readonly priority: number;
  /** Lower case; null for all. */
  readonly currency: string | null;
  /** `Infinity` without an end. */
  readonly validity: Interval;
  /** Whether one of the tenant counts without being asked for (domain.md 15). */
  readonly isAutoApplied: boolean;
};

export type AppliedTax = {
  readonly association: TaxAssociation;
  readonly taxableAmount: Decimal;
  /** Rounded by itself. */
  readonly taxAmount: Decimal;
};

/** An active PRE_PAID wallet of the invoice's currency (domain.md 20.7). */
export type PrepaidWallet = {
  readonly id: string;
  /** Money; may have finer digits than the currency and may be negative. */
  readonly balance: Decimal;
  readonly allowedPriceTypes: readonly ('ALL' | 'USAGE' | 'FIXED')[];
  readonly createdAtMs: InstantMs;
};

/** What one wallet pays of an invoice; greater than 0, in minor units. */
export type PrepaidDebit = { readonly walletId: string; readonly amount: Decimal };
