import { adjustLines } from './adjust-lines.js';
import { dueDateOf } from './due-date.js';
import type { BillableLine } from '../billable-line.js';
import type { InvoiceInputs, InvoiceLine, InvoiceResult } from '../invoice.js';
import { creditLines } from '../charge/credit-lines.js';
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
  const adjusted = adjustLines(
    pricedLines(selected, inputs),
    { ...{ coupons, taxes, wallets, period, currency }, atMs: asOfMs },
    (lines) => creditLines(unused, lines, inputs),
  );
  return {
    currency,
    period,
    dueMs: dueDateOf(period, inputs.referencePoint, inputs.dueDays),
    ...adjusted,
    lines: shownLines(adjusted.lines, inputs),
  };
}

function shownLines<C extends string>(
  lines: readonly InvoiceLine<C>[],
  { hideZeroCharges }: InvoiceInputs<C>,
): readonly InvoiceLine<C>[] {
  return hideZeroCharges ? lines.filter((line) => !line.amount.isZero()) : lines;
}
