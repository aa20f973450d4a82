import { z } from 'zod';
import {
  decimal,
  instant,
  integer,
  json,
  nullable,
  oneOf,
  recordVersion,
  text,
  textKeyed,
  withDefault,
} from '../../records/columns.js';
import type {
  Currency,
  DateTime,
  DecimalText,
  MetadataDto,
  PaginationDto,
  RecordDto,
  SearchBody,
} from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';

export const COUPONS = defineResource({
  name: 'coupon',
  idPrefix: 'coupon',
  table: 'coupons',
  columns: {
    name: text,
    coupon_code: nullable(text),
    type: oneOf(['fixed', 'percentage']),
    cadence: oneOf(['once', 'repeated', 'forever']),
    amount_off: nullable(decimal),
    percentage_off: nullable(decimal),
    currency: nullable(text),
    duration_in_periods: nullable(integer),
    max_redemptions: nullable(integer),
    total_redemptions: withDefault(integer),
    redeem_after: nullable(instant),
    redeem_before: nullable(instant),
    rules: nullable(json(textKeyed(z.unknown()))),
    version: recordVersion,
  },
  unique: { coupons_code: 'coupon_code' },
  removal: 'archived',
});
export type CouponRow = RecordOf<typeof COUPONS>;
export type NewCoupon = NewRecord<(typeof COUPONS)['columns']>;

/** Conditions of your own; they are kept and answered, and not evaluated. */
export interface CouponRulesDto {
  [name: string]: unknown;
}

/** A rule for a discount. It discounts whatever it is attached to when a subscription is made. */
export interface CouponDto extends RecordDto {
  name: string;
  coupon_code: string | null;
  type: 'fixed' | 'percentage';
  /** On how many invoices it counts: one, `duration_in_periods`, or all. */
  cadence: 'once' | 'repeated' | 'forever';
  amount_off: DecimalText | null;
  percentage_off: DecimalText | null;
  currency: Currency | null;
  /** @isInt */
  duration_in_periods: number | null;
  /** Null: as often as you like. @isInt */
  max_redemptions: number | null;
  /** How often it was attached. @isInt */
  total_redemptions: number;
  redeem_after: DateTime | null;
  redeem_before: DateTime | null;
  rules: CouponRulesDto | null;
}

export interface CouponListDto {
  items: CouponDto[];
  pagination: PaginationDto;
}

/**
 * @example {"name": "Spring offer", "type": "percentage", "percentage_off": "10", "cadence":
 *   "repeated", "duration_in_periods": 3, "coupon_code": "SPRING10", "max_redemptions": 500,
 *   "redeem_before": "2026-07-01T00:00:00Z"}
 */
export interface CreateCouponBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  type: 'fixed' | 'percentage';
  cadence: 'once' | 'repeated' | 'forever';
  /** Money, more than 0; required for `fixed`, and only there. */
  amount_off?: DecimalText;
  /** More than 0 and at most 100; required for `percentage`, and only there. */
  percentage_off?: DecimalText;
  /** Of `amount_off`; required for `fixed`, without effect for `percentage`. */
  currency?: Currency;
  /** What customers type in, and subscriptions name. @minLength 1 @maxLength 255 */
  coupon_code?: string;
  /**
   * Billing periods; required for `repeated`, and only there.
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  duration_in_periods?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000000
   */
  max_redemptions?: number;
  /** The first instant at which it can be attached. */
  redeem_after?: DateTime;
  /** It can be attached before this instant. */
  redeem_before?: DateTime;
  rules?: CouponRulesDto;
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed. What a coupon takes off never changes.
 * @example {"name": "Spring offer 2026"}
 */
export interface ChangeCouponBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}

export interface SearchCouponsBody extends SearchBody {
  /** @maxItems 1000 */
  coupon_ids?: string[];
  /** @maxItems 1000 */
  coupon_codes?: string[];
}

export function couponToDto(row: CouponRow): CouponDto {
  return recordToDto(COUPONS, row);
}
