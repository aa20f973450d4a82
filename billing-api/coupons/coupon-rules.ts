import { decimalOf } from '../../contract/decimal.js';
import type { COUPONS } from '../declarations/coupons/coupon.resource.js';
import { endProblem, type MemberReader } from '../records/member-rules.js';
import type { ReadValues } from '../records/standard/members.js';

type ReadCoupon = ReadValues<(typeof COUPONS)['columns']>;

function checkPercentage(reader: MemberReader, coupon: ReadCoupon): void {
  const { percentage_off: percentage, amount_off: amount } = coupon;
  if (percentage === null) reader.note('percentage_off', 'is required with type percentage');
  else if (decimalOf(percentage).greaterThan(100)) {
    reader.note('percentage_off', 'must be at most 100');
  }
  if (amount !== null) reader.note('amount_off', 'goes only with type fixed');
}

function checkFixed(reader: MemberReader, coupon: ReadCoupon): void {
  const { percentage_off: percentage, amount_off: amount, currency } = coupon;
  if (amount === null) reader.note('amount_off', 'is required with type fixed');
  if (currency === null) reader.note('currency', 'is required with type fixed');
  if (percentage !== null) reader.note('percentage_off', 'goes only with type percentage');
  if (amount !== null && currency !== null) {
    reader.minorDigits('amount_off', decimalOf(amount), currency);
  }
}

function checkDuration(reader: MemberReader, coupon: ReadCoupon): void {
  const hasDuration = coupon.duration_in_periods !== null;
  if (coupon.cadence === 'repeated' && !hasDuration) {
    reader.note('duration_in_periods', 'is required with cadence repeated');
  }
  if (coupon.cadence !== 'repeated' && hasDuration) {
    reader.note('duration_in_periods', 'goes only with cadence repeated');
  }
}

/** The rules of each kind of coupon. */
const RULES_OF_TYPE: Readonly<
  Record<NonNullable<ReadCoupon['type']>, (reader: MemberReader, coupon: ReadCoupon) => void>
> = { fixed: checkFixed, percentage: checkPercentage };

/** Notes what breaks a rule between the members of a new coupon (docs/domain.md 3.2). */
export function checkCoupon(reader: MemberReader, coupon: ReadCoupon): void {
  checkDuration(reader, coupon);
  const { redeem_after: from, redeem_before: before } = coupon;
  reader.note('redeem_before', endProblem('redeem_after', from, before));
  // A type that could not be read is refused already; its percentage is checked beside it.
  RULES_OF_TYPE[coupon.type ?? 'percentage'](reader, coupon);
}
