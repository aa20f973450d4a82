import { compareTexts } from '../../../contract/compare-texts.js';
import { ONE, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { overlapOf } from '../calendar/interval.js';
import { allocateByWeight } from '../money/allocate.js';
import { lesserOf, roundMoney, sumOfMoney, zeroMoney, type Money } from '../money/money.js';
import type { CouponApplication, CouponAssociation, CouponTerms } from './adjustments.js';
import { hasApplicationsLeft } from './coupon-cadences.js';
import { shownPercentage, takenOff } from './coupon-kinds.js';
import type { AdjustedLine, DiscountTrace } from './adjusted-line.js';

/** The discounts of one line. */
type LineDiscounts<C extends string> = {
  readonly amount: Money<C>;
  readonly lineItem: Money<C>;
  readonly invoice: Money<C>;
  readonly traces: readonly DiscountTrace<C>[];
};

/** A line with its discounts so far. */
type DiscountedLine<Line, C extends string> = {
  readonly line: Line;
  discounts: LineDiscounts<C>;
};

/** The discounted lines, and the discounts of the invoice. */
export type CouponResult<Line extends AdjustedLine<C>, C extends string = string> = {
  readonly lines: readonly Line[];
  readonly applications: readonly CouponApplication<C>[];
};

export type CouponContext<C extends string = string> = {
  readonly coupons: readonly CouponAssociation[];
  /** Of the invoice. */
  readonly period: Interval;
  readonly currency: C;
  /**
   * Whether a fixed discount has the share of a full one that its lines have of full charges
   * (docs/domain.md 25.3); false when absent.
   */
  readonly isScaled?: boolean;
};

/** Whether cadence and dates let a coupon apply (docs/domain.md 14.4). */
function isApplicable(association: CouponAssociation, period: Interval): boolean {
  const { coupon, validity, applicationCount } = association;
  if (overlapOf(validity, period) === null) return false;
  return hasApplicationsLeft(coupon.cadence, coupon.durationInPeriods, applicationCount);
}

/** Line coupons before invoice coupons, each kind by start, then id by code units. */
function byApplicationOrder(left: CouponAssociation, right: CouponAssociation): number {
  const kinds = Number(left.lineItemId === null) - Number(right.lineItemId === null);
  const starts = left.validity.startMs - right.validity.startMs;
  return kinds || starts || compareTexts(left.id, right.id);
}

/** The share of full charges that lines are together; 1 for lines that are not scaled. */
function shareOfFull<C extends string>(lines: readonly AdjustedLine<C>[]): Decimal {
  const exact = sumOf(lines.map(({ trace }) => trace.rounding.exact));
  const full = lines.map(({ trace: { rounding, proration } }) => {
    if (proration === null || proration.coveredMs === 0) return rounding.exact;
    return rounding.exact.times(proration.fullMs).dividedBy(proration.coveredMs);
  });
  const sum = sumOf(full);
  return sum.greaterThan(ZERO) ? exact.dividedBy(sum) : ONE;
}

/** The discount of a coupon on a base; never above the base (docs/domain.md 14.5). */
function discountOf<C extends string>(
  coupon: CouponTerms,
  { base, share }: { readonly base: Money<C>; readonly share: Decimal },
): Money<C> {
  const { value, currency } = base;
  return lesserOf(roundMoney(takenOff(coupon, { base: value, share }), currency), base);
}

function leftOf<C extends string>({ amount, lineItem, invoice }: LineDiscounts<C>): Money<C> {
  return amount.minus(lineItem).minus(invoice);
}

/** Whether a coupon applies to a line; never to a line of 0 or less (docs/domain.md 14.5). */
function isTarget<C extends string>(
  { lineItemId, successorIds = [] }: CouponAssociation,
  { amount, lineItem }: AdjustedLine<C>,
): boolean {
  if (!amount.isAboveZero()) return false;
  if (lineItemId === null || lineItem === null) return lineItemId === null;
  return lineItem.id === lineItemId || successorIds.includes(lineItem.id);
}

type Taken<C extends string> = { readonly base: Money<C>; readonly discount: Money<C> };

/**
 * A line coupon is computed from the full amounts and takes at most what is left of them
 * (docs/domain.md 14.6); an invoice coupon is computed from what is left (docs/domain.md 14.7).
 */
function takenBy<C extends string>(
  association: CouponAssociation,
  targets: readonly LineDiscounts<C>[],
  { currency, share }: { readonly currency: C; readonly share: Decimal },
): Taken<C> {
  const left = sumOfMoney(targets.map(leftOf), currency);
  const isOfLine = association.lineItemId !== null;
  const full = targets.map(({ amount }) => amount);
  const base = isOfLine ? sumOfMoney(full, currency) : left;
  return { base, discount: lesserOf(discountOf(association.coupon, { base, share }), left) };
}

function withShare<C extends string>(
  discounts: LineDiscounts<C>,
  { id, lineItemId }: CouponAssociation,
  { base, share }: { readonly base: Money<C>; readonly share: Money<C> },
): LineDiscounts<C> {
  if (share.isZero()) return discounts;
  const trace = { couponAssociationId: id, base, amount: share };
  const traces = [...discounts.traces, trace];
  if (lineItemId === null) {
    return { ...discounts, traces, invoice: discounts.invoice.plus(share) };
  }
  return { ...discounts, traces, lineItem: discounts.lineItem.plus(share) };
}

function applicationOf<C extends string>(
  association: CouponAssociation,
  taken: Taken<C>,
): CouponApplication<C> {
  const { id, coupon, lineItemId } = association;
  return {
    associationId: id,
    couponId: coupon.id,
    lineItemId,
    discountType: coupon.type,
    discountPercentage: shownPercentage(coupon),
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
export function applyCoupons<Line extends AdjustedLine<C>, C extends string>(
  lines: readonly Line[],
  context: CouponContext<C>,
): CouponResult<Line, C> {
  const { coupons, period, currency, isScaled = false } = context;
  const zero = zeroMoney(currency);
  const state = lines.map((line): DiscountedLine<Line, C> => {
    const { amount } = line;
    return { line, discounts: { amount, lineItem: zero, invoice: zero, traces: [] } };
  });
  const applications: CouponApplication<C>[] = [];
  const applicable = coupons.filter((association) => isApplicable(association, period));
  for (const association of applicable.sort(byApplicationOrder)) {
    const targets = state.filter(({ line }) => isTarget(association, line));
    const taken = takenBy(
      association,
      targets.map(({ discounts }) => discounts),
      { currency, share: isScaled ? shareOfFull(targets.map(({ line }) => line)) : ONE },
    );
    if (taken.discount.isZero()) continue;
    const weightOf = ({ discounts }: DiscountedLine<Line, C>): Decimal => leftOf(discounts).value;
    const shares = allocateByWeight(taken.discount, targets, weightOf);
    for (const [target, share] of shares) {
      target.discounts = withShare(target.discounts, association, { base: taken.base, share });
    }
    applications.push(applicationOf(association, taken));
  }
  return { lines: state.map(discounted), applications };
}

function discounted<Line extends AdjustedLine<C>, C extends string>({
  line,
  discounts,
}: DiscountedLine<Line, C>): Line {
  if (discounts.traces.length === 0) return line;
  const { lineItem, invoice, traces } = discounts;
  const trace = { ...line.trace, discounts: traces };
  return { ...line, lineItemDiscount: lineItem, invoiceLevelDiscount: invoice, trace };
}
