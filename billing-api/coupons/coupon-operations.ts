import type { Occasion } from '../records/occasion.js';
import { changeRecord, removeRecord, type ChangeTarget } from '../records/change-record.js';
import { isEqual, isOneOf } from '../records/conditions.js';
import { createRecord } from '../records/create-record.js';
import { findPublished, readRecord } from '../records/find-record.js';
import { givenOf, MemberReader } from '../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../records/refusal.js';
import { searchRecords, type Page } from '../records/search-records.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type WriteDependencies,
} from '../records/unit.js';
import { newCoupon } from './coupon-rules.js';
import {
  COUPONS,
  type ChangeCouponBody,
  type CouponRow,
  type CreateCouponBody,
  type SearchCouponsBody,
} from '../declarations/coupons/coupon.resource.js';

/** POST /coupons. */
export async function createCoupon(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateCouponBody,
): Promise<CouponRow | Refusal> {
  const coupon = newCoupon(body);
  if (isRefusal(coupon)) return coupon;
  return writeUnit(dependencies, occasion, (unit) => createRecord(unit, COUPONS, coupon));
}

/** GET /coupons/{id}, whatever its status. */
export function readCoupon(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<CouponRow | Refusal> {
  return readUnit(dependencies, occasion, (unit) => readRecord(unit, COUPONS, id));
}

/** GET /coupons/code/{code}: the published coupon with this code. */
export function readCouponByCode(
  dependencies: ReadDependencies,
  occasion: Occasion,
  code: string,
): Promise<CouponRow | Refusal> {
  return readUnit(dependencies, occasion, async (unit) => {
    const [found] = await findPublished(unit, COUPONS, isEqual('coupon_code', code));
    return found ?? notFound('coupon', code);
  });
}

/** POST /coupons/search. */
export function searchCoupons(
  dependencies: ReadDependencies,
  occasion: Occasion,
  body: SearchCouponsBody,
): Promise<Page<CouponRow> | Refusal> {
  const conditions = [
    ...isOneOf('id', body.coupon_ids),
    ...isOneOf('coupon_code', body.coupon_codes),
  ];
  return readUnit(dependencies, occasion, (unit) =>
    searchRecords(unit, COUPONS, { request: body, conditions }),
  );
}

/** PUT /coupons/{id}. */
export async function changeCoupon(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeCouponBody },
): Promise<CouponRow | Refusal> {
  const reader = new MemberReader();
  const patch = givenOf({
    name: reader.changedName('name', body.name),
    metadata: reader.changedMetadata(body.metadata),
  });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, (unit) =>
    changeRecord(unit, COUPONS, { target, change: () => patch }),
  );
}

/**
 * DELETE /coupons/{id}: nobody can attach it any more, and its code is free again. Whoever holds it
 * keeps the discount (docs/domain.md 14.3), so nothing stands in the way.
 */
export function archiveCoupon(
  dependencies: WriteDependencies,
  occasion: Occasion,
  id: string,
): Promise<CouponRow | Refusal> {
  return writeUnit(dependencies, occasion, (unit) =>
    removeRecord(unit, COUPONS, { id, guards: [] }),
  );
}
