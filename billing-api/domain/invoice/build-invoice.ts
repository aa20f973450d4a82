import { ZERO } from '../../../contract/decimal.js';
import { invoiceTotals } from './invoice-totals.js';
import type { InvoiceInputs, InvoiceLine, InvoiceResult, PlannedLine } from './invoice.js';
import type { LineUsage } from './line-usage.js';
import { planLines } from './plan-lines.js';
import { rateLine } from './rate-line.js';
import { roundLine } from './round-line.js';

/**
 * Computes an invoice: lines, sums and the trace of every line (domain.md 13). Preview, draft and
 * final computation are this one function; the same inputs give the same result, whatever the order
 * of line items and usage shares.
 * @throws TypeError when a USAGE line has no entry in `usage`: nothing used is an entry of 0, and a
 *   failed read must never become an amount of 0.
 */
export function buildInvoice(inputs: InvoiceInputs): InvoiceResult {
  const { currency } = inputs.subscription;
  const rated = planLines(inputs).map((planned) => rateLine(planned, usageOf(planned, inputs)));
  const lines = rated.map((line) => roundLine(line, inputs.subscription));
  const totals = invoiceTotals({
    subtotal: lines.reduce((sum, line) => sum.plus(line.amount), ZERO),
    totalDiscount: ZERO,
    totalPrepaidCreditsApplied: ZERO,
    totalTax: ZERO,
    adjustmentAmount: ZERO,
    amountPaid: ZERO,
  });
  return {
    currency,
    period: inputs.period,
    lines: shownLines(lines, inputs),
    couponApplications: [],
    taxes: [],
    prepaidDebits: [],
    totals,
  };
}

function usageOf({ lineItem }: PlannedLine, inputs: InvoiceInputs): LineUsage | null {
  if (lineItem.price.type === 'FIXED') return null;
  const usage = inputs.usage.get(lineItem.id);
  if (usage === undefined) throw new TypeError(`no usage was read for line item ${lineItem.id}`);
  return usage;
}

function shownLines(
  lines: readonly InvoiceLine[],
  { hideZeroCharges }: InvoiceInputs,
): readonly InvoiceLine[] {
  return hideZeroCharges ? lines.filter((line) => !line.amount.isZero()) : lines;
}
