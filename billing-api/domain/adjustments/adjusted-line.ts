import type { Decimal } from '../../../contract/decimal.js';
import type { PriceType } from '../price/price-cadence.js';

/** What one coupon took off a line. */
export type DiscountTrace = {
  readonly couponAssociationId: string;
  /** What the discount was computed from, over all lines it applies to. */
  readonly base: Decimal;
  /** The share of this line. */
  readonly amount: Decimal;
};

/** What coupons and prepaid credits read of an invoice line, and what they fill in. */
export type AdjustedLine = {
  /** Null for a line of the plan as a whole, such as a true-up. */
  readonly lineItem: { readonly id: string; readonly price: { readonly type: PriceType } } | null;
  readonly amount: Decimal;
  /** Taken off by coupons on the line item. */
  readonly lineItemDiscount: Decimal;
  /** The line's share of what coupons on the invoice take off. */
  readonly invoiceLevelDiscount: Decimal;
  readonly prepaidCreditsApplied: Decimal;
  readonly trace: { readonly discounts: readonly DiscountTrace[] };
};
