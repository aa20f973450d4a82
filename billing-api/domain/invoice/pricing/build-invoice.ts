import type { CouponApplication, CouponAssociation } from '../../adjustments/adjustments.js';
import { applyCoupons, type CouponResult } from '../../adjustments/apply-coupons.js';
import { adjustLines } from './adjust-lines.js';
import { dueDateOf } from './due-date.js';
import type { BillableLine } from '../billable-line.js';
import type { InvoiceInputs, InvoiceLine, InvoiceResult, LatePeriod } from '../invoice.js';
import { creditLines } from '../charge/credit-lines.js';
import { lateChargesOf, lateFiguresOf, lateLines, withPriors, type Late } from './late-lines.js';
import { pricedLines } from '../charge/priced-lines.js';
import { selectLines } from '../select-lines.js';

/**
 * Selects the lines of an invoice and prices them: lines, sums and the trace of every line, in the
 * order of docs/domain.md 13.1. The same inputs give the same result, whatever the order of line
 * items, usage and adjustments.
 * @throws TypeError as `priceInvoice` does.
 */
export function buildInvoice<C extends string>(inputs: InvoiceInputs<C>): InvoiceResult<C> {
  return priceInvoice(selectLines(inputs), inputs);
}

/**
 * Prices the lines that `selectLines` selected from the same inputs. Preview, draft and final
 * invoices are all computed here.
 * @throws TypeError when a usage line has no entry in `usage`, or lacks a part of the usage that it
 *   requires. A line without usage has an entry of 0; a failed read must never become an amount of
 *   0.
 */
export function priceInvoice<C extends string>(
  selected: readonly BillableLine[],
  inputs: InvoiceInputs<C>,
): InvoiceResult<C> {
  const { currency } = inputs.subscription;
  const { coupons, taxes, wallets, period, asOfMs, unused = [] } = inputs;
  const { scalesFixedCoupons = false } = inputs;
  const late = lateChargesOf(inputs, discountedLines);
  const adjusted = adjustLines(
    pricedLines(selected, withPriors(inputs, late.priors)),
    { coupons, taxes, wallets, period, currency, scalesFixedCoupons, atMs: asOfMs },
    (lines) => {
      const grouped = groupedLines(withPriors(inputs, late.priors));
      const following = [...creditLines(unused, lines, inputs), ...grouped.lines];
      const ofLate = lateLines(late, [...lines, ...following], inputs);
      return { ...grouped, lines: [...following, ...ofLate] };
    },
  );
  return {
    currency,
    period,
    dueMs: dueDateOf(period, inputs.referencePoint, inputs.dueDays),
    ...adjusted,
    lines: shownLines(adjusted.lines, inputs),
  };
}

/** The lines of a period that is priced again, after discounts. */
function discountedLines<C extends string>(inputs: InvoiceInputs<C>): readonly InvoiceLine<C>[] {
  const untaxed = { ...inputs, taxes: [], wallets: [], hideZeroCharges: false };
  return priceInvoice(selectLines(inputs), untaxed).lines;
}

/** Every line of late periods, as it is priced now and as it was charged (docs/domain.md 13.8). */
export function priceLatePeriods(periods: readonly LatePeriod[]): readonly Late[] {
  return lateFiguresOf(periods, discountedLines);
}

/** Coupons with what the same invoice has taken of them already. */
function countedAgain(
  coupons: readonly CouponAssociation[],
  taken: readonly Pick<CouponApplication, 'associationId'>[],
): readonly CouponAssociation[] {
  return coupons.map((coupon) => {
    const again = taken.filter(({ associationId }) => associationId === coupon.id);
    return { ...coupon, applicationCount: coupon.applicationCount + again.length };
  });
}

/**
 * The lines of grouped children, each child's lowered by its own coupons alone, so that they cost
 * what they would on invoices of their own, of which one whose periods a pause has moved may have
 * two (docs/domain.md 29.2).
 */
function groupedLines<C extends string>({
  subscription: { currency },
  children = [],
}: InvoiceInputs<C>): CouponResult<InvoiceLine<C>, C> {
  const lines: InvoiceLine<C>[] = [];
  const applications: CouponApplication<C>[] = [];
  for (const { subscriptionId, planId, inputs } of children) {
    const priced = pricedLines(selectLines(inputs), inputs);
    const own = priced.map((line) => ({ ...line, child: { subscriptionId, planId } }));
    const coupons = countedAgain(inputs.coupons, applications);
    const context = { coupons, period: inputs.period, currency };
    const lowered = applyCoupons<InvoiceLine<C>, C>(own, context);
    lines.push(...lowered.lines);
    applications.push(...lowered.applications);
  }
  return { lines, applications };
}

function shownLines<C extends string>(
  lines: readonly InvoiceLine<C>[],
  { hideZeroCharges }: InvoiceInputs<C>,
): readonly InvoiceLine<C>[] {
  return hideZeroCharges ? lines.filter((line) => !line.amount.isZero()) : lines;
}
