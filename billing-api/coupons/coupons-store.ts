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
 * The coupons that these names mean, by name: the one with this code, which may be archived when
 * no published one has it, or else the one with this id. Published ones are locked in the order
 * of their ids, so that of all who redeem a coupon at once each sees the redemptions of those
 * before, and nobody archives it meanwhile.
 */
export async function lockNamedCoupons(
  { tx }: Unit,
  names: readonly string[],
): Promise<ReadonlyMap<string, CouponRow>> {
  if (names.length === 0) return new Map();
  const list = sql.array([...new Set(names)], 'text');
  const isNamed = sql.fragment`(coupon_code = ANY (${list}) OR id = ANY (${list}))`;
  const published = await tx.any(sql.type(COUPONS.row)`
    SELECT * FROM coupons WHERE ${isNamed} AND status = 'published' AND ${isOfEnvironment}
    ORDER BY id FOR NO KEY UPDATE`);
  const codes = new Set(published.map(({ coupon_code: code }) => code));
  // Archived coupons are read only when a name is not the code of a published one.
  if (names.every((name) => codes.has(name))) return byName(published);
  const others = await tx.any(sql.type(COUPONS.row)`
    SELECT * FROM coupons WHERE ${isNamed} AND status <> 'published' AND ${isOfEnvironment}
    ORDER BY updated_at, id`);
  return byName([...others, ...published]);
}

/** By id and, before that, by code. */
function byName(rows: readonly CouponRow[]): ReadonlyMap<string, CouponRow> {
  const byCode = rows.map((row) => [row.coupon_code ?? row.id, row] as const);
  return new Map([...rows.map((row) => [row.id, row] as const), ...byCode]);
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
