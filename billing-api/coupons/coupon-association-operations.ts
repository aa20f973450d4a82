import { endsAfter, isEqual, isStarted } from '../records/conditions.js';
import { readRecord } from '../records/find-record.js';
import { listRequestFrom, type ListQuery } from '../records/list-request.js';
import { searchRecords, type Page } from '../records/search-records.js';
import { readOperation } from '../records/operation.js';
import {
  COUPON_ASSOCIATIONS,
  couponAssociationToDto,
  withCoupon,
  withCoupons,
  type CouponAssociationDto,
} from '../declarations/coupons/coupon-association.resource.js';

export interface CouponAssociationsQuery extends ListQuery {
  coupon_id?: string;
  subscription_id?: string;
  /**
   * Only those that have begun and not ended.
   * @default false
   */
  active_only?: boolean;
}

/** GET /coupons/associations. */
export const listCouponAssociations = readOperation(
  async (unit, query: CouponAssociationsQuery): Promise<Page<CouponAssociationDto>> => {
    const conditions = [
      ...isEqual('coupon_id', query.coupon_id),
      ...isEqual('subscription_id', query.subscription_id),
      ...(query.active_only === true
        ? [...isStarted('start_date', unit.now), ...endsAfter('end_date', unit.now)]
        : []),
    ];
    const request = listRequestFrom(query);
    const page = await searchRecords(unit, COUPON_ASSOCIATIONS, { request, conditions });
    const attached = await withCoupons(unit, page.items);
    return { ...page, items: attached.map(couponAssociationToDto) };
  },
);

/** GET /coupons/associations/{id}, whatever its status. */
export const readCouponAssociation = readOperation(
  async (unit, id: string): Promise<CouponAssociationDto> => {
    const row = await readRecord(unit, COUPON_ASSOCIATIONS, id);
    return couponAssociationToDto(await withCoupon(unit, row));
  },
);
