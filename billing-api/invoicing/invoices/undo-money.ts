import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { numericColumn } from '../../../sql/columns.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import { postingsOfTakenBack, postingsOfVoid } from '../../domain/ledger/postings.js';
import { postGroups } from '../../money/ledger/post-groups.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { isBeingCharged } from '../../money/payments/begin-charge.js';
import { withdrawPages } from '../../money/payments/payment-pages.js';
import { absorbCredits, findCreditShares } from '../../documents/store/credited-lines.js';
import { returnPaid, takeBack } from './return-credits.js';
import { failPurchase, findPurchases } from '../../money/payments/complete-purchase.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

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

/** What credits for unused time have given back of an invoice, which is now taken off again. */
async function takeCreditsOff(unit: Unit, row: InvoiceRow): Promise<Decimal> {
  const shares = await findCreditShares(unit, row);
  await absorbCredits(unit, shares);
  return sumOf(shares.map(({ amount }) => amount));
}

const groupOf = ({ id, customer_id: customerId, currency }: InvoiceRow) => ({
  customerId,
  currency,
  kind: 'invoice.voided',
  entityType: 'invoice',
  entityId: id,
});

/** A draft has posted nothing; one that was edited by hand may have been given back in part. */
async function undoDraft(unit: Unit, row: InvoiceRow): Promise<Undone | Refusal> {
  const credited = row.is_manually_edited ? await takeCreditsOff(unit, row) : ZERO;
  const taken = await takeBack(unit, row, credited);
  if (isRefusal(taken)) return taken;
  await postGroups(
    unit,
    taken.map((share) => ({ ...groupOf(row), postings: postingsOfTakenBack(share) })),
  );
  return { isReturned: false };
}

/** Why the money of a finalized invoice cannot be undone; null when it can. */
async function undoRefusal(
  unit: Unit,
  { id }: InvoiceRow,
  purchases: readonly WalletTransactionRow[],
): Promise<Refusal | null> {
  if (await isBeingCharged(unit, { invoiceId: id })) {
    const problem = 'a payment of the invoice is in process at the gateway; wait for its outcome';
    return new Refusal('invalid_operation', problem);
  }
  if (purchases.every((one) => one.transaction_status !== 'completed')) return null;
  const problem =
    'the credits that the invoice sells have arrived in their wallet; debit them instead';
  return new Refusal('invalid_operation', problem);
}

/**
 * Undoes the money of a locked invoice that is being voided: what was paid of it and not given back
 * goes to wallets, once, and the movements of its finalization are reversed by others. Credits for
 * unused time that its payments do not cover are taken from the wallet again (docs/domain.md 18,
 * 21.2). One whose credits have arrived in a wallet is refused: nothing would pay them.
 */
export async function undoMoney(unit: Unit, row: InvoiceRow): Promise<Undone | Refusal> {
  if (isIn(INVOICE, 'draft', row.invoice_status)) return undoDraft(unit, row);
  if (!isIn(INVOICE, 'claimed', row.invoice_status)) return { isReturned: false };
  const purchases = await findPurchases(unit, row.id);
  const refusal = await undoRefusal(unit, row, purchases);
  if (refusal !== null) return refusal;
  await withdrawPages(unit, row.id);
  const failed = await failPurchase(unit, row.id);
  if (isRefusal(failed)) return failed;
  const setOff = await findSetOff(unit, row.id);
  const refunded = row.refunded_amount.plus(await takeCreditsOff(unit, row));
  const returned = await returnPaid(unit, row, { setOff, givenBack: refunded });
  if (isRefusal(returned)) return returned;
  const postings = postingsOfVoid({
    subtotal: row.subtotal,
    discount: row.total_discount,
    tax: row.total_tax,
    total: row.total,
    adjusted: row.adjustment_amount,
    refunded,
    paid: row.amount_paid,
    setOff,
    returned,
    isFunding: purchases.length > 0,
  });
  await postGroups(unit, [{ ...groupOf(row), postings }]);
  return { isReturned: returned.some(({ worth }) => worth.greaterThan(ZERO)) };
}
