import { sql } from 'slonik';
import { isOfEnvironment } from '../records/conditions.js';
import type { StatementUnit, Unit } from '../records/unit.js';
import {
  COUPON_ASSOCIATIONS,
  withCoupons,
  type AttachedCoupon,
} from '../declarations/coupons/coupon-association.resource.js';
import { COUPONS, type CouponRow } from '../declarations/coupons/coupon.resource.js';

/**
 * The coupons that these codes name, by code: the published one, else the one archived last.
 * Published ones are locked in the order of their ids, so that of all who redeem a coupon at once
 * each sees the redemptions of those before, and nobody archives it meanwhile.
 */
export async function lockCouponsByCode(
  { tx }: Unit,
  codes: readonly string[],
): Promise<ReadonlyMap<string, CouponRow>> {
  if (codes.length === 0) return new Map();
  const hasCode = sql.fragment`coupon_code = ANY (${sql.array([...new Set(codes)], 'text')})`;
  const published = await tx.any(sql.type(COUPONS.row)`
    SELECT * FROM coupons WHERE ${hasCode} AND status = 'published' AND ${isOfEnvironment}
    ORDER BY id FOR NO KEY UPDATE`);
  const others = await tx.any(sql.type(COUPONS.row)`
    SELECT * FROM coupons WHERE ${hasCode} AND status <> 'published' AND ${isOfEnvironment}
    ORDER BY updated_at, id`);
  return new Map([...others, ...published].map((row) => [row.coupon_code ?? '', row]));
}

/** The coupons of subscriptions that count, with what they are attached to; oldest first. */
export async function findAttachedCoupons(
  unit: StatementUnit,
  subscriptionIds: readonly string[],
): Promise<readonly AttachedCoupon[]> {
  if (subscriptionIds.length === 0) return [];
  const associations = await unit.tx.any(sql.type(COUPON_ASSOCIATIONS.row)`
    SELECT * FROM coupon_associations
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')})
      AND status = 'published' AND ${isOfEnvironment}
    ORDER BY created_at, id`);
  return withCoupons(unit, associations);
}
