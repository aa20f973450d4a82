import type { CouponDto } from '../../generated/standard/coupon-types.js';
import { instant, integer, nullable, oneOf, text } from '../../records/columns.js';
import { defineResource, type RecordOf } from '../../records/resource.js';
import { figure, kept } from './value-columns.js';

/** A coupon as it was when it was applied. */
export type CouponSnapshot = Pick<
  CouponDto,
  | 'name'
  | 'coupon_code'
  | 'type'
  | 'cadence'
  | 'amount_off'
  | 'percentage_off'
  | 'currency'
  | 'duration_in_periods'
>;

/** What a coupon took off an invoice. */
export const COUPON_APPLICATIONS = defineResource({
  name: 'coupon application',
  idPrefix: 'coupon_app',
  table: 'coupon_applications',
  columns: {
    invoice_id: nullable(text),
    position: integer,
    coupon_id: text,
    /** Null for a coupon of a one-off invoice. */
    coupon_association_id: nullable(text),
    coupon_snapshot: kept<CouponSnapshot>(),
    invoice_line_item_id: nullable(text),
    subscription_id: nullable(text),
    discount_type: oneOf(['fixed', 'percentage']),
    discount_percentage: nullable(figure),
    discounted_amount: figure,
    original_price: figure,
    final_price: figure,
    applied_at: instant,
  },
  removal: null,
  isAudited: false,
});
export type CouponApplicationRow = RecordOf<typeof COUPON_APPLICATIONS>;
