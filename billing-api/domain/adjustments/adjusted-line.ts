import type { Decimal } from '../../../contract/number/decimal.js';
import type { Proration } from '../calendar/proration.js';
import type { Money } from '../money/money.js';
import type { PriceType } from '../price/price-cadence.js';

/** What one coupon took off a line. */
export type DiscountTrace<C extends string = string> = {
  readonly couponAssociationId: string;
  /** What the discount was computed from, over all lines it applies to. */
  readonly base: Money<C>;
  /** The share of this line. */
  readonly amount: Money<C>;
};

/** What coupons and prepaid credits read of an invoice line, and what they fill in. */
export type AdjustedLine<C extends string = string> = {
  /** Null for a line of the plan as a whole, such as a true-up. */
  readonly lineItem: { readonly id: string; readonly price: { readonly type: PriceType } } | null;
  readonly amount: Money<C>;
  /** Taken off by coupons on the line item. */
  readonly lineItemDiscount: Money<C>;
  /** The line's share of what coupons on the invoice take off. */
  readonly invoiceLevelDiscount: Money<C>;
  readonly prepaidCreditsApplied: Money<C>;
  readonly trace: {
    readonly discounts: readonly DiscountTrace<C>[];
    /** What share of a full charge it is; null where it is all of one. */
    readonly proration: Proration | null;
    readonly rounding: { readonly exact: Decimal };
  };
};
