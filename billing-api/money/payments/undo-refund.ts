import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { PaymentRow } from '../../declarations/money/payment.resource.js';
import { postingsOfUndoneRefund, priceAccount } from '../../domain/ledger/postings.js';
import { postGroups } from '../ledger/post-groups.js';
import type { Unit } from '../../records/unit.js';
import { findPurchases } from './complete-purchase.js';
import { returnSoldCredits } from './sold-credits.js';

/**
 * Posts what a payment has undone of the refunds of its invoice, as when a dispute was won, and
 * gives sold credits back that had gone with the money.
 */
export async function undoRefund(
  unit: Unit,
  { id, customer_id: customerId, currency }: PaymentRow,
  { before, after }: { readonly before: InvoiceRow; readonly after: InvoiceRow },
): Promise<void> {
  const amount = before.refunded_amount.minus(after.refunded_amount);
  if (amount.isZero()) return;
  const purchases = await findPurchases(unit, before.id);
  const account = priceAccount(purchases.length > 0);
  await postGroups(unit, [
    {
      customerId,
      currency,
      entityType: 'payment',
      entityId: id,
      kind: 'payment.refund_undone',
      postings: postingsOfUndoneRefund(amount, account),
    },
  ]);
  return returnSoldCredits(unit, { invoice: before, purchases, amount });
}
