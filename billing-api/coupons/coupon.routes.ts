import { COUPONS } from '../declarations/coupons/coupon.resource.js';
import { oneOfTexts } from '../records/standard/search-members.js';
import { standardRoutes } from '../records/standard/standard-routes.js';
import { checkCoupon } from './coupon-rules.js';

export const COUPON_ROUTES = standardRoutes(COUPONS, {
  path: 'coupons',
  tag: 'Coupons',
  entity: 'coupon',
  record:
    'A rule for a discount. It discounts whatever it is attached to when a subscription is made.',
  create: {
    example: {
      name: 'Spring offer',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'repeated',
      duration_in_periods: 3,
      coupon_code: 'SPRING10',
      max_redemptions: 500,
      redeem_before: '2026-07-01T00:00:00Z',
    },
    check: checkCoupon,
  },
  search: { by: { coupon_ids: oneOfTexts('id'), coupon_codes: oneOfTexts('coupon_code') } },
  readBy: { path: 'code/{code}', column: 'coupon_code' },
  read: {},
  change: {
    body: 'Members that are present are changed. What a coupon takes off never changes.',
    example: { name: 'Spring offer 2026' },
  },
  // Whoever holds it keeps the discount (docs/domain.md 14.3), so nothing stands in the way.
  remove: {
    description: 'Nobody can attach it any more. Whoever holds it keeps the discount.',
    guards: [],
    answers: 'message',
  },
});
