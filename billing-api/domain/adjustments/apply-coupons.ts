import { compareTexts } from '../../../contract/compare-texts.js';
import { ZERO, minOf, sumOf, type Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { overlapOf } from '../calendar/interval.js';
import { allocateByWeight, roundMoney } from '../money.js';
import type { CouponApplication, CouponAssociation, CouponTerms } from './adjustments.js';
import type { AdjustedLine, DiscountTrace } from './adjusted-line.js';

/** The discounts of one line. */
type LineDiscounts = {
  readonly amount: Decimal;
  readonly lineItem: Decimal;
  readonly invoice: Decimal;
  readonly traces: readonly DiscountTrace[];
};

/** A line with its discounts so far. */
type DiscountedLine<Line> = { readonly line: Line; discounts: LineDiscounts };

/** The discounted lines, and the discounts of the invoice. */
export type CouponResult<Line extends AdjustedLine> = {
  readonly lines: readonly Line[];
  readonly applications: readonly CouponApplication[];
};

export type CouponContext = {
  readonly coupons: readonly CouponAssociation[];
  /** Of the invoice. */
  readonly period: Interval;
  readonly currency: string;
};

/** Whether cadence and dates let a coupon apply (docs/domain.md 14.4). */
function isApplicable(association: CouponAssociation, period: Interval): boolean {
  const { coupon, validity, applicationCount } = association;
  if (overlapOf(validity, period) === null) return false;
  switch (coupon.cadence) {
    case 'once':
      return applicationCount < 1;
    case 'repeated':
      return applicationCount < assertPresent(coupon.durationInPeriods, 'the duration of a coupon');
    case 'forever':
      return true;
  }
}

/** Line coupons before invoice coupons, each kind by start, then id by code units. */
function byApplicationOrder(left: CouponAssociation, right: CouponAssociation): number {
  const kinds = Number(left.lineItemId === null) - Number(right.lineItemId === null);
  const starts = left.validity.startMs - right.validity.startMs;
  return kinds || starts || compareTexts(left.id, right.id);
}

/** The discount of a coupon on a base; never above the base (docs/domain.md 14.5). */
function discountOf(coupon: CouponTerms, base: Decimal, currency: string): Decimal {
  switch (coupon.type) {
    case 'fixed':
      return minOf(coupon.amountOff, base);
    case 'percentage':
      return minOf(roundMoney(base.times(coupon.percentageOff).dividedBy(100), currency), base);
  }
}

function leftOf({ amount, lineItem, invoice }: LineDiscounts): Decimal {
  return amount.minus(lineItem).minus(invoice);
}

/** Whether a coupon applies to a line; never to a line of 0 or less (docs/domain.md 14.5). */
function isTarget({ lineItemId }: CouponAssociation, { amount, lineItem }: AdjustedLine): boolean {
  if (!amount.greaterThan(ZERO)) return false;
  return lineItemId === null || lineItem?.id === lineItemId;
}

type Taken = { readonly base: Decimal; readonly discount: Decimal };

/**
 * A line coupon is computed from the full amounts and takes at most what is left of them
 * (docs/domain.md 14.6); an invoice coupon is computed from what is left (docs/domain.md 14.7).
 */
function takenBy(
  association: CouponAssociation,
  targets: readonly LineDiscounts[],
  currency: string,
): Taken {
  const left = sumOf(targets.map(leftOf));
  const isOfLine = association.lineItemId !== null;
  const base = isOfLine ? sumOf(targets.map(({ amount }) => amount)) : left;
  return { base, discount: minOf(discountOf(association.coupon, base, currency), left) };
}

function withShare(
  discounts: LineDiscounts,
  { id, lineItemId }: CouponAssociation,
  { base, share }: { readonly base: Decimal; readonly share: Decimal },
): LineDiscounts {
  if (share.isZero()) return discounts;
  const trace = { couponAssociationId: id, base, amount: share };
  const traces = [...discounts.traces, trace];
  if (lineItemId === null) {
    return { ...discounts, traces, invoice: discounts.invoice.plus(share) };
  }
  return { ...discounts, traces, lineItem: discounts.lineItem.plus(share) };
}

function applicationOf(association: CouponAssociation, taken: Taken): CouponApplication {
  const { id, coupon, lineItemId } = association;
  return {
    associationId: id,
    couponId: coupon.id,
    lineItemId,
    discountType: coupon.type,
    discountPercentage: coupon.type === 'percentage' ? coupon.percentageOff : null,
    originalPrice: taken.base,
    discountedAmount: taken.discount,
    finalPrice: taken.base.minus(taken.discount),
  };
}

/**
 * Applies line coupons, then invoice coupons (docs/domain.md 14.4 to 14.8). Every discount is
 * rounded once and split over its lines in proportion to what is left of them; no line falls below
 * 0.
 */
export function applyCoupons<Line extends AdjustedLine>(
  lines: readonly Line[],
  context: CouponContext,
): CouponResult<Line> {
  const { coupons, period, currency } = context;
  const state = lines.map((line): DiscountedLine<Line> => {
    const { amount } = line;
    return { line, discounts: { amount, lineItem: ZERO, invoice: ZERO, traces: [] } };
  });
  const applications: CouponApplication[] = [];
  const applicable = coupons.filter((association) => isApplicable(association, period));
  for (const association of applicable.sort(byApplicationOrder)) {
    const targets = state.filter(({ line }) => isTarget(association, line));
    const taken = takenBy(
      association,
      targets.map(({ discounts }) => discounts),
      currency,
    );
    if (taken.discount.isZero()) continue;
    const weightOf = ({ discounts }: DiscountedLine<Line>): Decimal => leftOf(discounts);
    const shares = allocateByWeight(taken.discount, targets, { weightOf, currency });
    for (const [target, share] of shares) {
      target.discounts = withShare(target.discounts, association, { base: taken.base, share });
    }
    applications.push(applicationOf(association, taken));
  }
  return { lines: state.map(discounted), applications };
}

function discounted<Line extends AdjustedLine>({ line, discounts }: DiscountedLine<Line>): Line {
  if (discounts.traces.length === 0) return line;
  const { lineItem, invoice, traces } = discounts;
  const trace = { ...line.trace, discounts: traces };
  return { ...line, lineItemDiscount: lineItem, invoiceLevelDiscount: invoice, trace };
}
