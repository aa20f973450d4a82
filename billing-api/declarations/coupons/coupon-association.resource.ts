import { assertPresent } from '../../../runtime/failure.js';
import { instant, nullable, text } from '../../records/columns.js';
import { findRecords } from '../../records/find-record.js';
import type { DateTime, MetadataDto, ListDto, RecordStatusDto } from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';
import type { StatementUnit } from '../../records/unit.js';
import type { CouponDto } from '../../generated/standard/coupon-types.js';
import { COUPONS, type CouponRow } from './coupon.resource.js';

export const COUPON_ASSOCIATIONS = defineResource({
  name: 'coupon association',
  idPrefix: 'coupon_assoc',
  table: 'coupon_associations',
  columns: {
    coupon_id: text,
    subscription_id: text,
    subscription_line_item_id: nullable(text),
    subscription_phase_id: nullable(text),
    start_date: instant,
    end_date: nullable(instant),
  },
  removal: 'deleted',
});
export type CouponAssociationRow = RecordOf<typeof COUPON_ASSOCIATIONS>;
export type NewCouponAssociation = NewRecord<(typeof COUPON_ASSOCIATIONS)['columns']>;

/** A coupon that discounts the invoices of a subscription, or one of its line items. */
export interface CouponAssociationDto {
  id: string;
  coupon_id: string;
  coupon: CouponDto;
  subscription_id: string;
  /** Null: it discounts the invoice as a whole. */
  subscription_line_item_id: string | null;
  subscription_phase_id: string | null;
  start_date: DateTime;
  /** The coupon does not discount periods that begin at this instant or later. */
  end_date: DateTime | null;
  metadata: MetadataDto;
  status: RecordStatusDto;
  created_at: DateTime;
  created_by: string | null;
  updated_at: DateTime;
  updated_by: string | null;
}

export interface CouponAssociationListDto extends ListDto<CouponAssociationDto> {}

/** An association with its coupon, whatever the status of that has become. */
export type AttachedCoupon = {
  readonly association: CouponAssociationRow;
  readonly coupon: CouponRow;
};

/** These associations, in their order, with their coupons. */
export async function withCoupons(
  unit: StatementUnit,
  associations: readonly CouponAssociationRow[],
): Promise<readonly AttachedCoupon[]> {
  const ids = associations.map((row) => row.coupon_id);
  const coupons = await findRecords(unit, COUPONS, ids);
  return associations.flatMap((association) => {
    const coupon = coupons.get(association.coupon_id);
    return coupon === undefined ? [] : [{ association, coupon }];
  });
}

/** This association with its coupon. */
export async function withCoupon(
  unit: StatementUnit,
  row: CouponAssociationRow,
): Promise<AttachedCoupon> {
  const [attached] = await withCoupons(unit, [row]);
  return assertPresent(attached, 'the coupon of an association');
}

export function couponAssociationToDto({
  association,
  coupon,
}: AttachedCoupon): CouponAssociationDto {
  const answer = recordToDto(COUPON_ASSOCIATIONS, association);
  const { id, coupon_id, subscription_id, start_date, end_date, metadata, status } = answer;
  const { created_at, created_by, updated_at, updated_by } = answer;
  return {
    id,
    coupon_id,
    coupon: recordToDto(COUPONS, coupon),
    subscription_id,
    subscription_line_item_id: answer.subscription_line_item_id,
    subscription_phase_id: answer.subscription_phase_id,
    start_date,
    end_date,
    metadata,
    status,
    created_at,
    created_by,
    updated_at,
    updated_by,
  };
}
