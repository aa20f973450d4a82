import { add, divide, multiply, zero, type Fraction } from '../usage-oracle/fraction.js';
import type { DraftLine } from './draft-line.js';
import { exact, isPositive, smaller, subtract, sum } from './exact.js';
import type { InvoiceQuestion } from './invoice-question.js';
import { splitAmount } from './largest-remainder.js';
import { roundMoney } from './money.js';
import type { CouponAssociation, Subscription } from './subscription.js';
import type { Range } from '../usage-oracle/windows.js';

export type DiscountedLine = DraftLine & {
  readonly lineDiscount: Fraction;
  readonly invoiceDiscount: Fraction;
};

export type Discounted = {
  readonly lines: readonly DiscountedLine[];
  /** A coupon without effect has no application (docs/domain.md 14.8). */
  readonly applications: readonly { readonly couponId: string; readonly discount: Fraction }[];
};

export function netOf({ amount, lineDiscount, invoiceDiscount }: DiscountedLine): Fraction {
  return subtract(amount, add(lineDiscount, invoiceDiscount));
}

function isInForce(
  { id, start, end, applicationsMax }: CouponAssociation,
  period: Range,
  earlier: InvoiceQuestion['earlier'],
): boolean {
  const applied = earlier.filter(({ appliedCouponIds }) => appliedCouponIds.includes(id)).length;
  const isLeft = applicationsMax === null || applied < applicationsMax;
  return isLeft && start < period.end && (end === null || end > period.start);
}

function byAssociation(left: CouponAssociation, right: CouponAssociation): number {
  return left.start - right.start || (left.id < right.id ? -1 : 1);
}

/** The discount on a base, never above it (docs/domain.md 14.5). */
function discountOn(currency: string, base: Fraction, { discount }: CouponAssociation): Fraction {
  const wanted =
    discount.type === 'fixed'
      ? exact(discount.amountOff)
      : roundMoney(currency, divide(multiply(base, exact(discount.percentageOff)), exact('100')));
  return smaller(wanted, base);
}

/** Lines that a discount may be taken from, and what is left of each. */
function leftOver(lines: readonly DiscountedLine[]): readonly Fraction[] {
  return lines.map((line) => (isPositive(line.amount) ? netOf(line) : zero));
}

/** A discount divided over lines in proportion to what is left of them (docs/domain.md 6.5). */
function dividedOver(
  currency: string,
  discount: Fraction,
  left: readonly Fraction[],
): readonly Fraction[] {
  const total = sum(left);
  if (!isPositive(discount)) return left.map(() => zero);
  const shares = left.map((each) => divide(multiply(discount, each), total));
  return splitAmount(currency, discount, shares);
}

/** A line coupon: computed from the full base, at most what is left of it (docs/domain.md 14.6). */
function withLineCoupon(
  { currency }: Subscription,
  known: Discounted,
  coupon: CouponAssociation,
): Discounted {
  const isOwn = ({ itemId }: DraftLine): boolean => itemId === coupon.itemId;
  const own = known.lines.filter(isOwn);
  const base = sum(own.map(({ amount }) => amount).filter(isPositive));
  const left = leftOver(own);
  const discount = smaller(discountOn(currency, base, coupon), sum(left));
  const parts = dividedOver(currency, discount, left);
  const lines = known.lines.map((line) => {
    const part = isOwn(line) ? parts[own.indexOf(line)] : undefined;
    return { ...line, lineDiscount: add(line.lineDiscount, part ?? zero) };
  });
  return withApplication({ ...known, lines }, coupon, discount);
}

/** An invoice coupon: on what earlier ones left of all lines (docs/domain.md 14.7). */
function withInvoiceCoupon(
  { currency }: Subscription,
  known: Discounted,
  coupon: CouponAssociation,
): Discounted {
  const left = leftOver(known.lines);
  const discount = discountOn(currency, sum(left), coupon);
  const parts = dividedOver(currency, discount, left);
  const lines = known.lines.map((line, index) => ({
    ...line,
    invoiceDiscount: add(line.invoiceDiscount, parts[index] ?? zero),
  }));
  return withApplication({ ...known, lines }, coupon, discount);
}

function withApplication(
  { lines, applications }: Discounted,
  { id }: CouponAssociation,
  discount: Fraction,
): Discounted {
  const next = isPositive(discount) ? [{ couponId: id, discount }] : [];
  return { lines, applications: [...applications, ...next] };
}

/** Line coupons, then invoice coupons (docs/domain.md 13.1, 14). */
export function withDiscounts(
  subscription: Subscription,
  drafts: readonly DraftLine[],
  { period, earlier }: { readonly period: Range; readonly earlier: InvoiceQuestion['earlier'] },
): Discounted {
  const undiscounted: Discounted = {
    lines: drafts.map((line) => ({ ...line, lineDiscount: zero, invoiceDiscount: zero })),
    applications: [],
  };
  const coupons = subscription.coupons
    .filter((coupon) => isInForce(coupon, period, earlier))
    .toSorted(byAssociation);
  const onLines = coupons
    .filter(({ itemId }) => itemId !== null)
    .reduce((known, coupon) => withLineCoupon(subscription, known, coupon), undiscounted);
  return coupons
    .filter(({ itemId }) => itemId === null)
    .reduce((known, coupon) => withInvoiceCoupon(subscription, known, coupon), onLines);
}
