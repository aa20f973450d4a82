import type { InstantMs, Interval } from '../../../../contract/instant.js';
import type { AdjustedLine } from '../../adjustments/adjusted-line.js';
import type {
  AppliedTax,
  CouponApplication,
  CouponAssociation,
  PrepaidDebit,
  PrepaidWallet,
  TaxAssociation,
} from '../../adjustments/adjustments.js';
import { applyCoupons, type CouponResult } from '../../adjustments/apply-coupons.js';
import { applyPrepaidCredits } from '../../adjustments/apply-prepaid-credits.js';
import { applyTaxes } from '../../adjustments/apply-taxes.js';
import { sumOfMoney, zeroMoney, type Money } from '../../money/money.js';
import type { InvoiceTotals } from '../invoice.js';
import { invoiceTotals } from './invoice-totals.js';

/** What is done to the lines of an invoice once they have their amounts. */
export type Adjustments<C extends string = string> = {
  readonly currency: C;
  /** Of the invoice: coupons apply whose dates overlap it. */
  readonly period: Interval;
  readonly coupons: readonly CouponAssociation[];
  /** Whether a fixed discount is reduced to the share of time that the lines are charged for. */
  readonly scalesFixedCoupons?: boolean;
  readonly taxes: readonly TaxAssociation[];
  readonly wallets: readonly PrepaidWallet[];
  /** The instant of finalization; now for an invoice that is not finalized. */
  readonly atMs: InstantMs;
};

/** Lines with their discounts and credits, and the sums of the invoice. */
export type AdjustedInvoice<Line, C extends string = string> = {
  readonly lines: readonly Line[];
  readonly couponApplications: readonly CouponApplication<C>[];
  readonly taxes: readonly AppliedTax<C>[];
  readonly prepaidDebits: readonly PrepaidDebit<C>[];
  readonly totals: InvoiceTotals<C>;
};

const NOTHING = { lines: [], applications: [] };

function discountOf<C extends string>(line: AdjustedLine<C>): Money<C> {
  return line.lineItemDiscount.plus(line.invoiceLevelDiscount);
}

/**
 * Coupons, prepaid credits, taxes and totals, in the order of docs/domain.md 13.1: the same for
 * computed lines, for lines that were given, and for those that were changed by hand.
 */
export function adjustLines<Line extends AdjustedLine<C>, C extends string>(
  lines: readonly Line[],
  { coupons, taxes: associations, wallets, period, currency, atMs, ...how }: Adjustments<C>,
  /**
   * Lines that come behind the others and that the coupons of these do not lower, with their own
   * discounts; they may follow from what coupons have left of the others.
   */
  followingFrom: (discounted: readonly Line[]) => CouponResult<Line, C> = () => NOTHING,
): AdjustedInvoice<Line, C> {
  const discounted = applyCoupons<Line, C>(lines, {
    coupons,
    period,
    currency,
    isScaled: how.scalesFixedCoupons ?? false,
  });
  const following = followingFrom(discounted.lines);
  const charged = {
    lines: [...discounted.lines, ...following.lines],
    applications: [...discounted.applications, ...following.applications],
  };
  const sum = (amounts: readonly Money<C>[]): Money<C> => sumOfMoney(amounts, currency);
  const subtotal = sum(charged.lines.map(({ amount }) => amount));
  const totalDiscount = sum(charged.lines.map(discountOf));
  const taxable = subtotal.minus(totalDiscount);
  const paid = applyPrepaidCredits<Line, C>(charged.lines, { wallets, limit: taxable });
  const taxes = applyTaxes(taxable, { taxes: associations, atMs });
  const totals = invoiceTotals({
    subtotal,
    totalDiscount,
    totalPrepaidCreditsApplied: sum(paid.lines.map((line) => line.prepaidCreditsApplied)),
    totalTax: sum(taxes.map(({ taxAmount }) => taxAmount)),
    adjustmentAmount: zeroMoney(currency),
    amountPaid: zeroMoney(currency),
  });
  const { applications: couponApplications } = charged;
  return { lines: paid.lines, couponApplications, taxes, prepaidDebits: paid.debits, totals };
}
