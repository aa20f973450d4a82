import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { WalletTransactionRow } from '../../declarations/money/wallet-transaction.resource.js';
import { postingsOfTakenBack, postingsOfVoid } from '../../domain/ledger/postings.js';
import { postGroups } from '../../money/ledger/post-groups.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { isBeingCharged } from '../../money/payments/begin-charge.js';
import { withdrawPages } from '../../money/payments/payment-pages.js';
import {
  findLineCredits,
  findSetOff,
  givenElsewhere,
} from '../../documents/store/credited-lines.js';
import { returnPaid, takeBack } from './return-credits.js';
import { failPurchase, findPurchases } from '../../money/payments/complete-purchase.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** Whether money went back to the customer when an invoice was voided. */
export type Undone = { readonly isReturned: boolean };

/** What credits for unused time have given back of an invoice to wallets and on other invoices. */
async function findGivenElsewhere(unit: Unit, { id }: InvoiceRow): Promise<Decimal> {
  return givenElsewhere(await findLineCredits(unit, [id]));
}

const groupOf = ({ id, customer_id: customerId, currency }: InvoiceRow) => ({
  customerId,
  currency,
  kind: 'invoice.voided',
  entityType: 'invoice',
  entityId: id,
});

/**
 * A draft has posted nothing. Of one that was edited by hand an earlier release may have given
 * unused time to a wallet.
 */
async function undoDraft(unit: Unit, row: InvoiceRow): Promise<Undone> {
  const credited = row.is_manually_edited ? await findGivenElsewhere(unit, row) : ZERO;
  const taken = await takeBack(unit, row, credited);
  await postGroups(
    unit,
    taken.map((share) => ({ ...groupOf(row), postings: postingsOfTakenBack(share) })),
  );
  return { isReturned: false };
}

/** Refuses to undo the money of a finalized invoice whose credits have arrived. */
async function refuseUndo(
  unit: Unit,
  { id }: InvoiceRow,
  purchases: readonly WalletTransactionRow[],
): Promise<void> {
  if (await isBeingCharged(unit, { invoiceId: id })) {
    const problem = 'a payment of the invoice is in process at the gateway; wait for its outcome';
    throw new Refused(new Refusal('invalid_operation', problem));
  }
  if (purchases.every((one) => one.transaction_status !== 'completed')) return;
  const problem =
    'the credits that the invoice sells have arrived in their wallet; debit them instead';
  throw new Refused(new Refusal('invalid_operation', problem));
}

/**
 * Undoes the money of a locked invoice that is being voided: what was paid of it and not given back
 * goes to wallets, once, and the movements of its finalization are reversed by others. Credits for
 * unused time that its payments do not cover are taken from the wallet again (docs/domain.md 18,
 * 21.2). One whose credits have arrived in a wallet is refused: nothing would pay them.
 */
export async function undoMoney(unit: Unit, row: InvoiceRow): Promise<Undone> {
  if (isIn(INVOICE, 'draft', row.invoice_status)) return undoDraft(unit, row);
  if (!isIn(INVOICE, 'claimed', row.invoice_status)) return { isReturned: false };
  const purchases = await findPurchases(unit, row.id);
  await refuseUndo(unit, row, purchases);
  await withdrawPages(unit, row.id);
  await failPurchase(unit, row.id);
  const setOff = await findSetOff(unit, row.id);
  const refunded = row.refunded_amount.plus(await findGivenElsewhere(unit, row));
  const returned = await returnPaid(unit, row, { setOff, givenBack: refunded });
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
