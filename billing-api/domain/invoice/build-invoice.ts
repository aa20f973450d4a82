import { ZERO, type Decimal } from '../../../contract/decimal.js';
import { applyCoupons } from '../adjustments/apply-coupons.js';
import { applyPrepaidCredits } from '../adjustments/apply-prepaid-credits.js';
import { applyTaxes } from '../adjustments/apply-taxes.js';
import { chargeLines } from './charge-lines.js';
import { invoiceTotals } from './invoice-totals.js';
import type { InvoiceInputs, InvoiceLine, InvoiceResult, BillableLine } from './invoice.js';
import { measureUsage } from './measure-usage.js';
import { selectLines } from './select-lines.js';
import { rateFixedLine, rateUsageLine, type RatedLine } from './rate-line.js';
import { trueUpLine } from './true-up-line.js';
import { writeLine } from './write-line.js';

/**
 * Computes an invoice: lines, sums and the trace of every line, in the order of domain.md 13.1.
 * Preview, draft and final computation are this one function; the same inputs give the same result,
 * whatever the order of line items, usage and adjustments.
 * @throws TypeError when a USAGE line has no entry in `usage`, or one without what was planned:
 *   nothing used is an entry of 0, and a failed read must never become an amount of 0.
 */
export function buildInvoice(inputs: InvoiceInputs): InvoiceResult {
  const { currency } = inputs.subscription;
  const { coupons, taxes: associations, wallets, period, asOfMs } = inputs;
  const charged = applyCoupons(linesOf(inputs), { coupons, period, currency });
  const subtotal = sumOf(charged.lines, ({ amount }) => amount);
  const totalDiscount = sumOf(charged.lines, discountOf);
  const taxable = subtotal.minus(totalDiscount);
  const paid = applyPrepaidCredits(charged.lines, { wallets, currency, limit: taxable });
  const taxes = applyTaxes(taxable, { taxes: associations, currency, atMs: asOfMs });
  const totals = invoiceTotals({
    subtotal,
    totalDiscount,
    totalPrepaidCreditsApplied: sumOf(
      paid.lines,
      ({ prepaidCreditsApplied }) => prepaidCreditsApplied,
    ),
    totalTax: sumOf(taxes, ({ taxAmount }) => taxAmount),
    adjustmentAmount: ZERO,
    amountPaid: ZERO,
  });
  return {
    currency,
    period,
    lines: shownLines(paid.lines, inputs),
    couponApplications: charged.applications,
    taxes,
    prepaidDebits: paid.debits,
    totals,
  };
}

function sumOf<Item>(items: readonly Item[], valueOf: (item: Item) => Decimal): Decimal {
  return items.reduce((sum, item) => sum.plus(valueOf(item)), ZERO);
}

function discountOf({ lineItemDiscount, invoiceLevelDiscount }: InvoiceLine): Decimal {
  return lineItemDiscount.plus(invoiceLevelDiscount);
}

/** Rounded lines before coupons, in line order; a true-up last. */
function linesOf(inputs: InvoiceInputs): readonly InvoiceLine[] {
  const { lines, trueUp } = chargeLines(rateLines(selectLines(inputs), inputs), inputs);
  const written = lines.map((line) => writeLine(line, inputs.subscription));
  return trueUp === null ? written : [...written, trueUpLine(trueUp, inputs)];
}

function rateLines(planned: readonly BillableLine[], inputs: InvoiceInputs): readonly RatedLine[] {
  const usage = measureUsage(planned, inputs);
  return planned.map((plan) => {
    const used = usage.get(plan);
    return used === undefined
      ? rateFixedLine(plan)
      : rateUsageLine(used.line, used.measured, inputs);
  });
}

function shownLines(
  lines: readonly InvoiceLine[],
  { hideZeroCharges }: InvoiceInputs,
): readonly InvoiceLine[] {
  return hideZeroCharges ? lines.filter((line) => !line.amount.isZero()) : lines;
}
