import { z } from 'zod';
import { COUPON_CADENCES } from '../../domain/adjustments/coupon-cadences.js';
import { DISCOUNT_TYPES } from '../../domain/adjustments/coupon-kinds.js';
import { recordVersion, textKeyed, withDefault } from '../../records/columns.js';
import { defineResource, type RecordOf } from '../../records/resource.js';
import {
  answered,
  changeable,
  choice,
  currencyCode,
  dateTime,
  nameText,
  object,
  optional,
  positiveDecimal,
  required,
  wholeNumber,
} from '../../records/standard/members.js';

/** Conditions of your own; they are kept and answered, and not evaluated. */
export interface CouponRulesDto {
  [name: string]: unknown;
}
const rules = object<CouponRulesDto>(textKeyed(z.unknown()), {
  name: 'CouponRulesDto',
  from: 'declarations/coupons/coupon.resource.js',
});

export const COUPONS = defineResource({
  name: 'coupon',
  idPrefix: 'coupon',
  table: 'coupons',
  columns: {
    name: changeable(required(nameText({ max: 255 }))),
    coupon_code: optional(nameText({ max: 255 }), {
      create: 'What customers type in, and subscriptions name.',
    }),
    type: required(choice(DISCOUNT_TYPES)),
    cadence: required(choice(COUPON_CADENCES), {
      answer: 'On how many invoices it counts: one, `duration_in_periods`, or all.',
    }),
    amount_off: optional(positiveDecimal, {
      create: 'Money, more than 0; required for `fixed`, and only there.',
    }),
    percentage_off: optional(positiveDecimal, {
      create: 'More than 0 and at most 100; required for `percentage`, and only there.',
    }),
    currency: optional(currencyCode, {
      create: 'Of `amount_off`; required for `fixed`, without effect for `percentage`.',
    }),
    duration_in_periods: optional(wholeNumber({ minimum: 1, maximum: 1000 }), {
      create: 'Billing periods; required for `repeated`, and only there.',
    }),
    max_redemptions: optional(wholeNumber({ minimum: 1, maximum: 1_000_000 }), {
      answer: 'Null: as often as you like.',
    }),
    total_redemptions: answered(withDefault(wholeNumber({})), {
      answer: 'How often it was attached.',
    }),
    redeem_after: optional(dateTime, {
      create: 'The first instant at which it can be attached.',
    }),
    redeem_before: optional(dateTime, { create: 'It can be attached before this instant.' }),
    rules: optional(rules),
    version: recordVersion,
  },
  unique: { coupons_code: 'coupon_code' },
  removal: 'archived',
});
export type CouponRow = RecordOf<typeof COUPONS>;
