import type { PrepaidWallet } from '../../adjustments/adjustments.js';
import { applyPrepaidCredits } from '../../adjustments/apply-prepaid-credits.js';
import { sumOfMoney } from '../../money/money.js';
import type { InvoiceLine, InvoiceResult } from '../invoice.js';
import { invoiceTotals } from './invoice-totals.js';

/**
 * An invoice that was computed without wallets, as it would be with these (docs/domain.md 20.7):
 * credits pay what discounts have left of the lines, and change nothing else but the sums.
 */
export function payInvoice<C extends string>(
  invoice: InvoiceResult<C>,
  wallets: readonly PrepaidWallet[],
): InvoiceResult<C> {
  const { subtotal, totalDiscount, totalTax, adjustmentAmount, amountPaid } = invoice.totals;
  const limit = subtotal.minus(totalDiscount);
  const paid = applyPrepaidCredits<InvoiceLine<C>, C>(invoice.lines, { wallets, limit });
  const applied = paid.lines.map(({ prepaidCreditsApplied }) => prepaidCreditsApplied);
  const totals = invoiceTotals({
    subtotal,
    totalDiscount,
    totalPrepaidCreditsApplied: sumOfMoney(applied, invoice.currency),
    totalTax,
    adjustmentAmount,
    amountPaid,
  });
  return { ...invoice, lines: paid.lines, prepaidDebits: paid.debits, totals };
}
