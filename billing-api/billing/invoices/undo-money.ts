import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, minOf, sumOf, ZERO, type Decimal } from '../../../contract/decimal.js';
import { numericColumn } from '../../../sql/columns.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { postingsOfVoid } from '../../domain/ledger/postings.js';
import { postGroups } from '../../ledger/post-groups.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { addCredits } from '../../wallets/move-credits.js';
import { lockRefundWallet } from '../../wallets/wallets-store.js';
import { isBeingCharged } from '../payments/begin-charge.js';
import { withdrawPages } from '../payments/payment-pages.js';
import { findCreditedLines } from '../proration/credited-lines.js';
import { failPurchase, findPurchases } from '../payments/complete-purchase.js';

/** Whether money went back to the customer when an invoice was voided. */
export type Undone = { readonly isReturned: boolean };

const sumRow = z.object({ amount: numericColumn.transform(decimalOf) });

/** What of earlier charges an invoice has taken off, which its customer has paid. */
async function findSetOff({ tx }: Unit, invoiceId: string): Promise<Decimal> {
  const { amount } = await tx.one(sql.type(sumRow)`
    SELECT coalesce(-sum(amount), 0) AS amount FROM invoice_line_items
    WHERE invoice_id = ${invoiceId} AND kind = 'credit' AND ${isOfEnvironment}`);
  return amount;
}

/**
 * What of the payments of an invoice was given back: by notes and refunds, and by credits for
 * unused time of its lines, at most what is left.
 */
async function findRefunded(unit: Unit, row: InvoiceRow): Promise<Decimal> {
  const { amount_paid: paid, total_prepaid_credits_applied: prepaid, refunded_amount } = row;
  const credited = sumOf([...(await findCreditedLines(unit, row)).values()]);
  return refunded_amount.plus(minOf(credited, paid.plus(prepaid).minus(refunded_amount)));
}

/** What was given back of an invoice, and what it has set off of earlier charges. */
type Returned = { readonly refunded: Decimal; readonly setOff: Decimal };

/**
 * Gives what was paid of an invoice and not given back to a wallet of its customer, and what it has
 * set off of earlier charges.
 */
async function giveBack(
  unit: Unit,
  row: InvoiceRow,
  { refunded, setOff }: Returned,
): Promise<string | null | Refusal> {
  const { amount_paid: paid, total_prepaid_credits_applied: prepaid } = row;
  const credits = paid.plus(prepaid).minus(refunded).plus(setOff);
  if (!credits.greaterThan(ZERO)) return null;
  const owner = { customerId: row.customer_id, currency: row.currency };
  const wallet = await lockRefundWallet(unit, owner);
  if (isRefusal(wallet)) return wallet;
  const reference = { type: 'INVOICE', id: row.id } as const;
  const moved = await addCredits(unit, wallet, {
    ...{ credits, reason: 'INVOICE_VOID_REFUND', reference },
  });
  return isRefusal(moved) ? moved : wallet.id;
}

/**
 * Undoes the money of a locked invoice that is being voided: what was paid goes to a wallet, once,
 * and the movements of its finalization are reversed by others (docs/domain.md 18, 21.2). One whose
 * credits have arrived in a wallet is refused, since they would be paid by nothing.
 */
export async function undoMoney(unit: Unit, row: InvoiceRow): Promise<Undone | Refusal> {
  if (row.invoice_status !== 'FINALIZED') return { isReturned: false };
  if (await isBeingCharged(unit, { invoiceId: row.id })) {
    const problem = 'a payment of the invoice is in process at the gateway; wait for its outcome';
    return new Refusal('invalid_operation', problem);
  }
  await withdrawPages(unit, row.id);
  const purchases = await findPurchases(unit, row.id);
  if (purchases.some((one) => one.transaction_status === 'completed')) {
    const problem =
      'the credits that the invoice sells have arrived in their wallet; debit them instead';
    return new Refusal('invalid_operation', problem);
  }
  const failed = await failPurchase(unit, row.id);
  if (isRefusal(failed)) return failed;
  const setOff = await findSetOff(unit, row.id);
  const refunded = await findRefunded(unit, row);
  const returnedTo = await giveBack(unit, row, { refunded, setOff });
  if (isRefusal(returnedTo)) return returnedTo;
  await postGroups(unit, [
    {
      customerId: row.customer_id,
      ...{ kind: 'invoice.voided', entityType: 'invoice', entityId: row.id },
      currency: row.currency,
      postings: postingsOfVoid({
        ...{ subtotal: row.subtotal, discount: row.total_discount, tax: row.total_tax },
        ...{ total: row.total, adjusted: row.adjustment_amount, refunded },
        ...{ paid: row.amount_paid, prepaid: row.total_prepaid_credits_applied, setOff },
        isFunding: purchases.length > 0,
        returnedTo,
      }),
    },
  ]);
  return { isReturned: returnedTo !== null };
}
