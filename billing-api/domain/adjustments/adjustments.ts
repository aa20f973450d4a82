import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { Money } from '../money/money.js';
import type { CouponCadence } from './coupon-cadences.js';
import type { DiscountTerms, DiscountType } from './coupon-kinds.js';

/** The discount that a coupon gives (docs/domain.md 14). */
export type CouponTerms = {
  readonly id: string;
  readonly cadence: CouponCadence;
  /** Maximum number of applications of a `repeated` coupon; else null. */
  readonly durationInPeriods: number | null;
} & DiscountTerms;

/** A coupon of a subscription, of one of its phases (with its dates) or of a line item. */
export type CouponAssociation = {
  readonly id: string;
  readonly coupon: CouponTerms;
  /** Null for a coupon on the whole invoice. */
  readonly lineItemId: string | null;
  /** Line items that continue that one, which it discounts as well; absent where there are none. */
  readonly successorIds?: readonly string[];
  /** `Infinity` without an end. */
  readonly validity: Interval;
  /** Applications on other invoices that are neither VOIDED nor SKIPPED (docs/domain.md 14.4). */
  readonly applicationCount: number;
};

/** A discount on an invoice (docs/domain.md 14.8); a discount of 0 has no application. */
export type CouponApplication<C extends string = string> = {
  readonly associationId: string;
  readonly couponId: string;
  readonly lineItemId: string | null;
  readonly discountType: DiscountType;
  /** Null for a discount that is none of so many per cent. */
  readonly discountPercentage: Decimal | null;
  /**
   * What the discount was computed from: of a line coupon the full lines, of an invoice coupon what
   * earlier ones left of them.
   */
  readonly originalPrice: Money<C>;
  /** The discount; greater than 0. */
  readonly discountedAmount: Money<C>;
  /** `originalPrice − discountedAmount`. */
  readonly finalPrice: Money<C>;
};

export type TaxLevel = 'invoice' | 'subscription' | 'customer' | 'tenant';

export type TaxRateTerms = {
  readonly id: string;
  /** Whether the rate is ACTIVE and published. */
  readonly isActive: boolean;
} & (
  | { readonly type: 'percentage'; readonly percentage: Decimal }
  | { readonly type: 'fixed'; readonly fixedValue: Decimal }
);

/** A tax rate of an invoice, a subscription, a customer or the tenant. */
export type TaxAssociation = {
  readonly id: string;
  readonly level: TaxLevel;
  /** Id of the invoice, subscription, customer or tenant, as `level` says. */
  readonly entityId: string;
  readonly rate: TaxRateTerms;
  /** Lower comes first. */
  readonly priority: number;
  /** Lower case; null for every currency. */
  readonly currency: string | null;
  /** `Infinity` without an end. */
  readonly validity: Interval;
  /** Whether an association of the tenant applies without being requested (docs/domain.md 15). */
  readonly isAutoApplied: boolean;
};

export type AppliedTax<C extends string = string> = {
  readonly association: TaxAssociation;
  readonly taxableAmount: Money<C>;
  /** Rounded by itself. */
  readonly taxAmount: Money<C>;
};

/** An active PRE_PAID wallet of the invoice's currency (docs/domain.md 20.7). */
export type PrepaidWallet = {
  readonly id: string;
  /** In the currency; may have finer digits than it, and may be negative. */
  readonly balance: Decimal;
  readonly allowedPriceTypes: readonly ('ALL' | 'USAGE' | 'FIXED')[];
  readonly createdAtMs: InstantMs;
};

/** What one wallet pays of an invoice; greater than 0. */
export type PrepaidDebit<C extends string = string> = {
  readonly walletId: string;
  readonly amount: Money<C>;
};
