import type { CouponDto } from '../../generated/standard/coupon-types.js';
import { DISCOUNT_FIGURES, DISCOUNT_TYPES } from '../../domain/adjustments/coupon-kinds.js';
import { instant, integer, nullable, oneOf, text } from '../../records/columns.js';
import { defineResource, type RecordOf } from '../../records/resource.js';
import { figure, kept } from './value-columns.js';

/** What is kept of a coupon, in this order. */
const SNAPSHOT = [
  ...(['name', 'coupon_code', 'type', 'cadence'] as const),
  ...DISCOUNT_FIGURES,
  ...(['currency', 'duration_in_periods'] as const),
] as const;

/** A coupon as it was when it was applied. */
export type CouponSnapshot = Pick<CouponDto, (typeof SNAPSHOT)[number]>;

/** What is kept of a coupon that is applied. */
export function couponSnapshot(coupon: CouponDto): CouponSnapshot {
  // The loop keeps the names, which TypeScript cannot see.
  return Object.fromEntries(SNAPSHOT.map((name) => [name, coupon[name]])) as CouponSnapshot;
}

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
    discount_type: oneOf(DISCOUNT_TYPES),
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
