import type { BillableLine } from '../billable-line.js';
import type { InvoiceInputs, InvoiceLine } from '../invoice.js';
import { chargeLines } from './charge-lines.js';
import { rateLines } from './rate-lines.js';
import { trueUpLine } from './true-up-line.js';
import { writeLine } from './write-line.js';

/**
 * The selected lines with their rounded amounts, before coupons, in line order; a true-up of the
 * subscription last (docs/domain.md 13.1).
 */
export function pricedLines<C extends string>(
  selected: readonly BillableLine[],
  inputs: InvoiceInputs<C>,
): readonly InvoiceLine<C>[] {
  const { lines, trueUp } = chargeLines(rateLines(selected, inputs), inputs);
  const written = lines.map((line) => writeLine(line, inputs));
  return trueUp === null ? written : [...written, trueUpLine(trueUp, inputs)];
}
