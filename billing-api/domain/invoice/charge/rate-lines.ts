import { sumOf, ZERO, type Decimal } from '../../../../contract/number/decimal.js';
import { mustGet } from '../../../../runtime/failure.js';
import { roundMoney, zeroMoney, type Money } from '../../money/money.js';
import type { BillableLine } from '../billable-line.js';
import type { InvoiceInputs } from '../invoice.js';
import { capCharge } from './cap-charge.js';
import { commitmentInfoOf } from './commitment-info.js';
import { lineagesOf } from './lineage.js';
import { measureUsage } from './measure-usage.js';
import { rateFixedLine } from './rate-fixed-line.js';
import { rateUsageLine } from './rate-usage-line.js';
import type { RatedLine } from './rated-line.js';

/** The lines with their charges; what a line used of a commitment is known to its successors. */
export function rateLines<C extends string>(
  selected: readonly BillableLine[],
  inputs: InvoiceInputs<C>,
): readonly RatedLine[] {
  const measured = measureUsage(selected, inputs);
  const used = new Map<string, Money<C>>();
  const charged = new Map<string, Decimal>();
  const rated = new Map<BillableLine, RatedLine>();
  const lineages = lineagesOf(inputs);
  for (const line of lineages.predecessorsFirst(selected)) {
    if (line.meter === null) {
      rated.set(line, rateFixedLine(line));
      continue;
    }
    const usage = mustGet(measured, line, 'the usage of a line');
    // Absent means zero: a line that is not on this invoice was charged nothing on it.
    const before = [...lineages.of(line.lineItem).ids].map((id) => charged.get(id) ?? ZERO);
    const whole = rateUsageLine(line, usage, { inputs, lineages, used });
    const one = capCharge(whole, sumOf(before));
    charged.set(line.lineItem.id, roundMoney(one.charge, inputs.subscription.currency).value);
    used.set(line.lineItem.id, utilizedOf(one, inputs));
    rated.set(line, one);
  }
  return selected.map((line) => mustGet(rated, line, 'the charge of a line'));
}

/** What a line shows as used of its own commitment; 0 without one. */
function utilizedOf<C extends string>(
  { charge, committed }: RatedLine,
  { subscription: { currency } }: InvoiceInputs<C>,
): Money<C> {
  if (committed === null || committed.money === null) return zeroMoney(currency);
  return commitmentInfoOf(committed, roundMoney(charge, currency)).utilized;
}
