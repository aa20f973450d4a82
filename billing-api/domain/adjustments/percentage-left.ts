import { maxOf, ONE, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { CouponAssociation } from './adjustments.js';
import { percentageOfUnusedTime } from './coupon-kinds.js';

const percentOf = ({ coupon }: CouponAssociation): Decimal => percentageOfUnusedTime(coupon);

const shareLeft = (percentage: Decimal): Decimal =>
  maxOf(ZERO, ONE.minus(percentage.dividedBy(100)));

/**
 * The share of a charge of a line item that percentage coupons leave: those of the line are taken
 * together from the full charge, those of the invoice each from what is left (docs/domain.md 14.6,
 * 14.7).
 */
export function percentageLeft(coupons: readonly CouponAssociation[], lineItemId: string): Decimal {
  const isOfLine = ({ lineItemId: own, successorIds = [] }: CouponAssociation): boolean =>
    own === lineItemId || successorIds.includes(lineItemId);
  const ofLine = shareLeft(sumOf(coupons.filter(isOfLine).map(percentOf)));
  return coupons
    .filter((coupon) => coupon.lineItemId === null)
    .reduce((left, coupon) => left.times(shareLeft(percentOf(coupon))), ofLine);
}
