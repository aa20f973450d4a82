import type { Decimal } from '../../../contract/decimal.js';
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
  type Posting,
} from '../../domain/ledger/postings.js';
import { CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { postGroups } from '../../ledger/post-groups.js';
import type { ChangeTarget } from '../../records/change-record.js';
import { moveRecord } from '../../records/move-record.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { addCredits } from '../../wallets/move-credits.js';
import { lockRefundWallet } from '../../wallets/wallets-store.js';
import { addRefunded, paidPatch, writePayment } from '../payments/settle-invoice.js';

const REFUNDED = 'SUCCEEDED' as const;
const UNDONE = 'VOIDED' as const;

/** A note, locked after its invoice. */
export type HeldNote = { readonly note: CreditNote; readonly invoice: InvoiceRow };

/** Lowers what is to be paid of a locked invoice, or raises it again by an amount below 0. */
async function adjust(unit: Unit, row: InvoiceRow, change: Decimal): Promise<InvoiceRow | Refusal> {
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

/** Gives the money of a refund to a wallet. */
async function refund(
  unit: Unit,
  { note: { row }, invoice }: HeldNote,
): Promise<readonly Posting[] | Refusal> {
  const written = await addRefunded(unit, invoice, row.total_amount);
  if (isRefusal(written)) return written;
  const owner = { customerId: invoice.customer_id, currency: invoice.currency };
  const wallet = await lockRefundWallet(unit, owner);
  if (isRefusal(wallet)) return wallet;
  const moved = await addCredits(unit, wallet, {
    ...{ credits: row.total_amount, reason: 'CREDIT_NOTE' },
    reference: { type: 'EXTERNAL', id: row.id },
  });
  return isRefusal(moved) ? moved : postingsOfRefund(row.total_amount, wallet.id);
}

async function post(
  unit: Unit,
  row: CreditNoteRow,
  { kind, postings }: { readonly kind: string; readonly postings: readonly Posting[] },
): Promise<void> {
  await postGroups(unit, [
    {
      customerId: row.customer_id,
      ...{ kind, entityType: 'credit_note', entityId: row.id },
      ...{ currency: row.currency, postings },
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
): Promise<CreditNote | Refusal> {
  const { note, invoice } = held;
  const isRefund = note.row.credit_note_type === 'REFUND';
  const row = await moveRecord(unit, CREDIT_NOTES, {
    ...{ target, lifecycle: CREDIT_NOTE, move: 'finalize', to: 'FINALIZED' },
    patch: () => ({ finalized_at: unit.now, refund_status: isRefund ? REFUNDED : null }),
    told: told(note.lines),
  });
  if (isRefusal(row)) return row;
  const postings = isRefund
    ? await refund(unit, held)
    : await adjusted(unit, { note: row, invoice });
  if (isRefusal(postings)) return postings;
  await post(unit, row, { kind: 'credit_note.finalized', postings });
  return { row, lines: note.lines };
}

async function adjusted(
  unit: Unit,
  { note, invoice }: { readonly note: CreditNoteRow; readonly invoice: InvoiceRow },
): Promise<readonly Posting[] | Refusal> {
  const written = await adjust(unit, invoice, note.total_amount);
  return isRefusal(written) ? written : postingsOfAdjustment(note.total_amount);
}

/** Voids a note; a finalized adjustment is undone, and a finalized refund stays. */
export async function voidNote(
  unit: Unit,
  { note, invoice }: HeldNote,
  target: ChangeTarget,
): Promise<CreditNote | Refusal> {
  const { credit_note_status: status, credit_note_type: type } = note.row;
  if (status === 'FINALIZED' && type === 'REFUND') {
    return new Refusal(
      'invalid_operation',
      'the refund was given back, so its note cannot be voided',
    );
  }
  const row = await moveRecord(unit, CREDIT_NOTES, {
    ...{ target, lifecycle: CREDIT_NOTE, move: 'void', to: 'VOIDED' },
    patch: () => ({ voided_at: unit.now, refund_status: type === 'REFUND' ? UNDONE : null }),
    told: told(note.lines),
  });
  if (isRefusal(row)) return row;
  if (status === 'FINALIZED') {
    const written = await adjust(unit, invoice, row.total_amount.negated());
    if (isRefusal(written)) return written;
    const total = row.total_amount.negated();
    await post(unit, row, { kind: 'credit_note.voided', postings: postingsOfAdjustment(total) });
  }
  return { row, lines: note.lines };
}
