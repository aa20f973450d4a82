import { plain } from '../../contract/decimal.js';
import { endProblem, MemberReader } from '../records/member-rules.js';
import type { Refusal } from '../records/refusal.js';
import type { CreateCouponBody, NewCoupon } from '../declarations/coupons/coupon.resource.js';

type Discount = Pick<NewCoupon, 'amount_off' | 'percentage_off' | 'currency'>;

function readPercentage(reader: MemberReader, body: CreateCouponBody): Discount {
  const { percentage_off: percentageOff } = body;
  if (percentageOff === undefined) reader.note('percentage_off', 'is required for percentage');
  if (body.amount_off !== undefined) reader.note('amount_off', 'goes only with type fixed');
  const percentage = reader.positive('percentage_off', percentageOff);
  if (percentage?.greaterThan(100) === true) reader.note('percentage_off', 'must be at most 100');
  return {
    amount_off: null,
    percentage_off: percentage === null ? null : plain(percentage),
    currency: body.currency === undefined ? null : reader.currency('currency', body.currency),
  };
}

function readFixed(reader: MemberReader, body: CreateCouponBody): Discount {
  if (body.amount_off === undefined) reader.note('amount_off', 'is required for fixed');
  if (body.currency === undefined) reader.note('currency', 'is required for fixed');
  if (body.percentage_off !== undefined) {
    reader.note('percentage_off', 'goes only with type percentage');
  }
  const currency = reader.currency('currency', body.currency ?? '');
  const amount = reader.positive('amount_off', body.amount_off);
  if (amount !== null) reader.minorDigits('amount_off', amount, currency);
  return { amount_off: amount === null ? null : plain(amount), percentage_off: null, currency };
}

function checkDuration(reader: MemberReader, body: CreateCouponBody): void {
  const hasDuration = body.duration_in_periods !== undefined;
  if (body.cadence === 'repeated' && !hasDuration) {
    reader.note('duration_in_periods', 'is required for repeated');
  }
  if (body.cadence !== 'repeated' && hasDuration) {
    reader.note('duration_in_periods', 'goes only with cadence repeated');
  }
}

/** The coupon that a request describes (docs/domain.md 3.2), or what is wrong with it. */
export function newCoupon(body: CreateCouponBody): NewCoupon | Refusal {
  const reader = new MemberReader();
  checkDuration(reader, body);
  const redeemAfter = reader.instant('redeem_after', body.redeem_after);
  const redeemBefore = reader.instant('redeem_before', body.redeem_before);
  reader.note('redeem_before', endProblem('redeem_after', redeemAfter, redeemBefore));
  const code = body.coupon_code;
  const coupon = {
    name: reader.name('name', body.name),
    coupon_code: code === undefined ? null : reader.name('coupon_code', code),
    type: body.type,
    cadence: body.cadence,
    ...(body.type === 'fixed' ? readFixed(reader, body) : readPercentage(reader, body)),
    duration_in_periods: body.duration_in_periods ?? null,
    max_redemptions: body.max_redemptions ?? null,
    redeem_after: redeemAfter,
    redeem_before: redeemBefore,
    rules: body.rules ?? null,
    metadata: { ...reader.metadata(body.metadata) },
  };
  return reader.refusal() ?? coupon;
}
