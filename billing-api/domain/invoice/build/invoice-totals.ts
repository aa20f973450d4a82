import { ZERO, maxOf } from '../../../../contract/decimal.js';
import type { InvoiceTotals } from '../invoice.js';

/** What the totals are computed from; every figure is rounded already. */
export type TotalsInputs = Pick<
  InvoiceTotals,
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
export function invoiceTotals(inputs: TotalsInputs): InvoiceTotals {
  const { subtotal, totalDiscount, totalPrepaidCreditsApplied, totalTax } = inputs;
  const sum = subtotal.minus(totalDiscount).minus(totalPrepaidCreditsApplied).plus(totalTax);
  const total = maxOf(ZERO, sum);
  const amountDue = total.minus(inputs.adjustmentAmount);
  return {
    ...inputs,
    total,
    amountDue,
    amountRemaining: maxOf(ZERO, amountDue.minus(inputs.amountPaid)),
    overpaidAmount: maxOf(ZERO, inputs.amountPaid.minus(amountDue)),
  };
}
