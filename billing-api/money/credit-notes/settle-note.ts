import { isIn } from '../../domain/lifecycle/lifecycle.js';
import type { Decimal } from '../../../contract/number/decimal.js';
import { paymentState } from '../../domain/payment/payment-state.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  CREDIT_NOTES,
  creditNoteToDto,
  type CreditNote,
  type CreditNoteLineRow,
  type CreditNoteRow,
} from '../../declarations/money/credit-note.resource.js';
import {
  postingsOfAdjustment,
  postingsOfRefund,
  priceAccount,
  type Posting,
} from '../../domain/ledger/postings.js';
import { CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { postGroups } from '../ledger/post-groups.js';
import type { ChangeTarget } from '../../records/change-record.js';
import { moveRecord } from '../../records/move-record.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { addCredits } from '../wallets/move-credits.js';
import { lockRefundWallet } from '../wallets/wallets-store.js';
import { findPurchases, hasFailed, settlePurchase } from '../payments/complete-purchase.js';
import { addRefunded, paidPatch, writePayment } from '../payments/settle-invoice.js';
import { takeSoldCredits } from '../payments/sold-credits.js';

const REFUNDED = 'SUCCEEDED' as const;
const UNDONE = 'VOIDED' as const;

/** A note, locked after its invoice. */
export type HeldNote = { readonly note: CreditNote; readonly invoice: InvoiceRow };

/** A note whose status has been written, its invoice, and the credits that the invoice sells. */
type NotedInvoice = {
  readonly note: CreditNoteRow;
  readonly invoice: InvoiceRow;
  readonly purchases: Awaited<ReturnType<typeof findPurchases>>;
};

/** Lowers what is to be paid of a locked invoice, or raises it again by an amount below 0. */
export async function adjust(unit: Unit, row: InvoiceRow, change: Decimal): Promise<InvoiceRow> {
  const adjustment = row.adjustment_amount.plus(change);
  const due = row.amount_due.minus(change);
  const after = paidPatch(unit, { ...row, amount_due: due }, row.amount_paid);
  const isOpen = paymentState({ amountDue: due, amountPaid: row.amount_paid }).status === 'PENDING';
  // An open invoice keeps the status that its payment gave it, such as FAILED.
  const keeps = isOpen && ['PENDING', 'PROCESSING', 'FAILED'].includes(row.payment_status);
  return writePayment(unit, row, {
    ...after,
    adjustment_amount: adjustment,
    amount_due: due,
    payment_status: keeps ? row.payment_status : after.payment_status,
  });
}

/** Gives the money of a refund to a wallet, and takes the credits that it had bought. */
async function refund(
  unit: Unit,
  { note: row, invoice, purchases }: NotedInvoice,
): Promise<readonly Posting[]> {
  const written = await addRefunded(unit, invoice, row.total_amount);
  const owner = { customerId: invoice.customer_id, currency: invoice.currency };
  const wallet = await lockRefundWallet(unit, owner);
  await addCredits(unit, wallet, {
    credits: row.total_amount,
    reason: 'CREDIT_NOTE',
    reference: { type: 'EXTERNAL', id: row.id },
  });
  await takeSoldCredits(unit, { invoice, purchases, amount: row.total_amount });
  await settlePurchase(unit, written);
  return postingsOfRefund(row.total_amount, wallet.id, priceAccount(purchases.length > 0));
}

async function post(
  unit: Unit,
  row: CreditNoteRow,
  { kind, postings }: { readonly kind: string; readonly postings: readonly Posting[] },
): Promise<void> {
  await postGroups(unit, [
    {
      customerId: row.customer_id,
      kind,
      entityType: 'credit_note',
      entityId: row.id,
      currency: row.currency,
      postings,
    },
  ]);
}

const told = (lines: readonly CreditNoteLineRow[]) => (row: CreditNoteRow) =>
  Promise.resolve(creditNoteToDto({ row, lines }));

/** Finalizes a note whose limits hold: it lowers its invoice, or gives money back. */
export async function finalizeNote(
  unit: Unit,
  held: HeldNote,
  target: ChangeTarget,
): Promise<CreditNote> {
  const { note, invoice } = held;
  const isRefund = note.row.credit_note_type === 'REFUND';
  const row = await moveRecord(unit, CREDIT_NOTES, {
    target,
    lifecycle: CREDIT_NOTE,
    move: 'finalize',
    to: 'FINALIZED',
    patch: () => ({ finalized_at: unit.now, refund_status: isRefund ? REFUNDED : null }),
    told: told(note.lines),
  });
  const noted = { note: row, invoice, purchases: await findPurchases(unit, invoice.id) };
  const postings = isRefund ? await refund(unit, noted) : await adjusted(unit, noted);
  await post(unit, row, { kind: 'credit_note.finalized', postings });
  return { row, lines: note.lines };
}

async function adjusted(
  unit: Unit,
  { note, invoice, purchases }: NotedInvoice,
): Promise<readonly Posting[]> {
  const written = await adjust(unit, invoice, note.total_amount);
  await settlePurchase(unit, written);
  return postingsOfAdjustment(note.total_amount, priceAccount(purchases.length > 0));
}

/** Undoes a finalized adjustment of which nothing has become final. */
async function undoAdjustment(
  unit: Unit,
  { note, invoice, purchases }: NotedInvoice,
): Promise<void> {
  if (hasFailed(purchases)) {
    const problem =
      'the credits that the invoice sells were not paid and will not arrive, so its note cannot be voided; sell them again by a top-up';
    throw new Refused(new Refusal('invalid_operation', problem));
  }
  const total = note.total_amount.negated();
  await adjust(unit, invoice, total);
  const postings = postingsOfAdjustment(total, priceAccount(purchases.length > 0));
  await post(unit, note, { kind: 'credit_note.voided', postings });
}

/** Voids a note; a finalized adjustment is undone, and a finalized refund stays. */
export async function voidNote(
  unit: Unit,
  { note, invoice }: HeldNote,
  target: ChangeTarget,
): Promise<CreditNote> {
  const { credit_note_status: status, credit_note_type: type } = note.row;
  if (isIn(CREDIT_NOTE, 'given', status) && type === 'REFUND') {
    throw new Refused(
      new Refusal('invalid_operation', 'the refund was given back, so its note cannot be voided'),
    );
  }
  const row = await moveRecord(unit, CREDIT_NOTES, {
    target,
    lifecycle: CREDIT_NOTE,
    move: 'void',
    to: 'VOIDED',
    patch: () => ({ voided_at: unit.now, refund_status: type === 'REFUND' ? UNDONE : null }),
    told: told(note.lines),
  });
  if (isIn(CREDIT_NOTE, 'given', status)) {
    const purchases = await findPurchases(unit, invoice.id);
    await undoAdjustment(unit, { note: row, invoice, purchases });
  }
  return { row, lines: note.lines };
}
