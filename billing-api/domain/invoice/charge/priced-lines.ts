import type { BillableLine } from '../billable-line.js';
import { chargeLines } from './charge-lines.js';
import type { InvoiceInputs, InvoiceLine } from '../invoice.js';
import { measureUsage } from './measure-usage.js';
import { rateFixedLine } from './rate-fixed-line.js';
import { rateUsageLine } from './rate-usage-line.js';
import type { RatedLine } from './rated-line.js';
import { trueUpLine } from './true-up-line.js';
import { writeLine } from './write-line.js';

/**
 * The selected lines with their rounded amounts, before coupons, in line order; a true-up of the
 * subscription last (docs/domain.md 13.1).
 */
export function pricedLines(
  selected: readonly BillableLine[],
  inputs: InvoiceInputs,
): readonly InvoiceLine[] {
  const { lines, trueUp } = chargeLines(rateLines(selected, inputs), inputs);
  const written = lines.map((line) => writeLine(line, inputs.subscription));
  return trueUp === null ? written : [...written, trueUpLine(trueUp, inputs)];
}

function rateLines(selected: readonly BillableLine[], inputs: InvoiceInputs): readonly RatedLine[] {
  const measured = measureUsage(selected, inputs);
  return selected.map((line) => {
    if (line.meter === null) return rateFixedLine(line);
    const usage = measured.get(line);
    if (usage === undefined) throw new TypeError('a usage line was not measured');
    return rateUsageLine(line, usage, inputs);
  });
}
