import { atLeastZero } from '../../money/money.js';
import type { InvoiceTotals } from '../invoice.js';

/** What the totals are computed from. */
export type TotalsInputs<C extends string = string> = Pick<
  InvoiceTotals<C>,
  | 'subtotal'
  | 'totalDiscount'
  | 'totalPrepaidCreditsApplied'
  | 'totalTax'
  | 'adjustmentAmount'
  | 'amountPaid'
>;

/**
 * The sums of an invoice that is not a CREDIT invoice (docs/domain.md 13.2): the total is never
 * negative, prepaid credits lower it but not the taxable amount, adjustments lower what is due.
 */
export function invoiceTotals<C extends string>(inputs: TotalsInputs<C>): InvoiceTotals<C> {
  const { subtotal, totalDiscount, totalPrepaidCreditsApplied, totalTax } = inputs;
  const sum = subtotal.minus(totalDiscount).minus(totalPrepaidCreditsApplied).plus(totalTax);
  const total = atLeastZero(sum);
  const amountDue = total.minus(inputs.adjustmentAmount);
  return {
    ...inputs,
    total,
    amountDue,
    amountRemaining: atLeastZero(amountDue.minus(inputs.amountPaid)),
    overpaidAmount: atLeastZero(inputs.amountPaid.minus(amountDue)),
  };
}
