import { decimalOf } from '../../contract/number/decimal.js';
import type { COUPONS } from '../declarations/coupons/coupon.resource.js';
import { COUPON_CADENCES, hasDuration } from '../domain/adjustments/coupon-cadences.js';
import {
  DISCOUNT_FIGURES,
  figuresOfType,
  isInCurrency,
  typesWithFigure,
  type DiscountType,
} from '../domain/adjustments/coupon-kinds.js';
import { endProblem, type MemberReader } from '../records/member-rules.js';
import type { ReadValues } from '../records/standard/members.js';

type ReadCoupon = ReadValues<(typeof COUPONS)['columns']>;

/** A coupon has the figures of its type and no others. */
function checkFigures(reader: MemberReader, coupon: ReadCoupon, type: DiscountType): void {
  const own = figuresOfType(type);
  for (const figure of own.filter((name) => coupon[name] === null)) {
    reader.note(figure, `is required with type ${type}`);
  }
  if (isInCurrency(type) && coupon.currency === null) {
    reader.note('currency', `is required with type ${type}`);
  }
  for (const figure of DISCOUNT_FIGURES) {
    if (own.includes(figure) || coupon[figure] === null) continue;
    reader.note(figure, `goes only with type ${typesWithFigure(figure).join(' or ')}`);
  }
}

function checkAmounts(reader: MemberReader, coupon: ReadCoupon, type: DiscountType): void {
  const { percentage_off: percentage, amount_off: amount, currency } = coupon;
  if (percentage !== null && decimalOf(percentage).greaterThan(100)) {
    reader.note('percentage_off', 'must be at most 100');
  }
  if (isInCurrency(type) && amount !== null && currency !== null) {
    reader.minorDigits('amount_off', decimalOf(amount), currency);
  }
}

function checkDuration(reader: MemberReader, { cadence, ...coupon }: ReadCoupon): void {
  // One that could not be read is refused already; no duration goes with it.
  const isNeeded = cadence !== null && hasDuration(cadence);
  const isGiven = coupon.duration_in_periods !== null;
  if (isNeeded && !isGiven) {
    reader.note('duration_in_periods', `is required with cadence ${cadence}`);
  }
  if (!isNeeded && isGiven) {
    const cadences = COUPON_CADENCES.filter(hasDuration).join(' or ');
    reader.note('duration_in_periods', `goes only with cadence ${cadences}`);
  }
}

/** Notes what breaks a rule between the members of a new coupon (docs/domain.md 3.2). */
export function checkCoupon(reader: MemberReader, coupon: ReadCoupon): void {
  checkDuration(reader, coupon);
  const { redeem_after: from, redeem_before: before } = coupon;
  reader.note('redeem_before', endProblem('redeem_after', from, before));
  // A type that could not be read is refused already; its percentage is checked beside it.
  const type = coupon.type ?? 'percentage';
  checkFigures(reader, coupon, type);
  checkAmounts(reader, coupon, type);
}
