import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { assertThat } from '../../../runtime/failure.js';
import { numericColumn } from '../../../sql/columns.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { UNUSED_TIME } from '../../declarations/money/credit-note.resource.js';
import { INVOICE_PAYMENT, INVOICE, CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { leadsTo, problemOfMove, isIn } from '../../domain/lifecycle/lifecycle.js';
import { paymentState, refundedStatus } from '../../domain/payment/payment-state.js';
import { undoneRefund, type PaidSums, type Refundable } from '../../domain/payment/refundable.js';
import { updateRecord } from '../../records/change-record.js';
import { lockRecord } from '../../records/find-record.js';
import { isOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { accept, notFound, Refusal, Refused } from '../../records/refusal.js';
import type { Patch } from '../../records/resource.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { announceInvoice } from '../../documents/store/announce-invoice.js';
import { activatePaid } from './activate-paid.js';
import { withdrawPages } from './payment-pages.js';

/** Whether an invoice leaves something to be paid although some of it was refunded. */
export function isOpenAfterRefund(row: InvoiceRow): boolean {
  return !row.refunded_amount.isZero() && !row.amount_remaining.isZero();
}

/** The sums of an invoice on which it depends what of its payments can go back. */
export function paidSumsOf(row: InvoiceRow, credited: Decimal): PaidSums {
  return {
    amountDue: row.amount_due,
    amountPaid: row.amount_paid,
    refunded: row.refunded_amount,
    prepaid: row.total_prepaid_credits_applied,
    credited,
  };
}

type InvoicePatch = Patch<(typeof INVOICES)['columns']>;

/** The move that leads to a payment status of an invoice. */
const MOVES = {
  PENDING: 'expect',
  PROCESSING: 'process',
  SUCCEEDED: 'succeed',
  OVERPAID: 'overpay',
  FAILED: 'fail',
} as const;
export type SettledStatus = keyof typeof MOVES;

/** Locks a finalized invoice; refuses an unknown one and one in another state. */
export async function lockFinalized(unit: Unit, id: string): Promise<InvoiceRow> {
  const row = await lockRecord(unit, INVOICES, id);
  if (row === null) throw new Refused(notFound(INVOICES.name, id));
  if (isIn(INVOICE, 'claimed', row.invoice_status)) return row;
  const problem = `the invoice is ${row.invoice_status}; only a FINALIZED one is paid or credited`;
  throw new Refused(new Refusal('invalid_operation', problem));
}

/** Why the payment of an invoice cannot become this; null when it can. */
export function moveRefusal(row: InvoiceRow, status: SettledStatus): Refusal | null {
  const problem = problemOfMove(INVOICE_PAYMENT, MOVES[status], row.payment_status);
  return problem === null ? null : new Refusal('invalid_operation', problem);
}

/**
 * Writes a locked invoice, and tells of it when its payment status has changed. A subscription that
 * waited for its payment is then active.
 */
export async function writePayment(
  unit: Unit,
  row: InvoiceRow,
  patch: InvoicePatch,
): Promise<InvoiceRow> {
  const { payment_status: before } = row;
  const { payment_status: next = before } = patch;
  assertThat(next === before || leadsTo(INVOICE_PAYMENT, before, next), `${before} to ${next}`);
  const after = await updateRecord(unit, INVOICES, { row, patch });
  if (after.amount_remaining.lessThan(row.amount_remaining)) await withdrawPages(unit, after.id);
  if (after.payment_status !== row.payment_status) {
    await announceInvoice(unit, after, 'invoice.update.payment');
    await activatePaid(unit, after);
    return after;
  }
  return after;
}

/** The sums of an invoice of which so much is paid, and when it was. */
function paidSums(unit: Unit, row: InvoiceRow, amountPaid: Decimal) {
  const state = paymentState({ amountDue: row.amount_due, amountPaid });
  const isPaid = state.status !== 'PENDING';
  return {
    amount_paid: amountPaid,
    amount_remaining: state.amountRemaining,
    overpaid_amount: state.overpaidAmount,
    payment_status: state.status,
    paid_at: isPaid ? (row.paid_at ?? unit.now) : null,
  } as const;
}

/** As `paidSums`, but an invoice of which money was given back keeps saying so. */
export function paidPatch(unit: Unit, row: InvoiceRow, amountPaid: Decimal) {
  const sums = paidSums(unit, row, amountPaid);
  if (row.refunded_amount.isZero()) return sums;
  return {
    ...sums,
    payment_status: refundedStatus(amountPaid, row.refunded_amount),
  };
}

const notedRow = z.object({ amount: numericColumn.transform(decimalOf) });

/** What was refunded of an invoice beside credit notes, which gave it to a wallet. */
async function findRefundedByPayments(
  { tx }: StatementUnit,
  { id, refunded_amount: refunded }: InvoiceRow,
): Promise<Decimal> {
  if (refunded.isZero()) return ZERO;
  const { amount } = await tx.one(sql.type(notedRow)`
    SELECT coalesce(sum(total_amount), 0) AS amount FROM credit_notes
    WHERE invoice_id = ${id} AND credit_note_type = 'REFUND' AND reason IS DISTINCT FROM ${UNUSED_TIME}
      AND ${rowIsIn(['credit_note_status'], CREDIT_NOTE, 'given')}
      AND ${isOfEnvironment}`);
  return refunded.minus(amount);
}

/**
 * The sums of a locked invoice after money has come in for it. What is more than it leaves to be
 * paid undoes what was refunded of it before it is too much (docs/domain.md 17.6).
 */
export async function sumsAfter(unit: Unit, row: InvoiceRow, amount: Decimal) {
  const undone = undoneRefund(amount, {
    remaining: row.amount_remaining,
    refundedByPayments: await findRefundedByPayments(unit, row),
  });
  const refunded_amount = row.refunded_amount.minus(undone);
  const paid = row.amount_paid.plus(amount).minus(undone);
  return { ...paidPatch(unit, { ...row, refunded_amount }, paid), refunded_amount };
}

/**
 * Adds money to a locked invoice; its payment status follows (docs/domain.md 17.1). Credits are
 * taken of a refunded invoice only for what it leaves to be paid; other money is there already.
 */
export async function addPaid(
  unit: Unit,
  row: InvoiceRow,
  { amount, hasArrived }: { readonly amount: Decimal; readonly hasArrived: boolean },
): Promise<InvoiceRow> {
  const { refunded_amount: refunded, amount_remaining: remaining } = row;
  const patch = await sumsAfter(unit, row, amount);
  if (!refunded.isZero() && (hasArrived || amount.lessThanOrEqualTo(remaining))) {
    return writePayment(unit, row, patch);
  }
  const { status } = paymentState({
    amountDue: row.amount_due,
    amountPaid: row.amount_paid.plus(amount),
  });
  return accept(moveRefusal(row, status) ?? writePayment(unit, row, patch));
}

/** Takes money off a locked invoice again whose payment did not hold. */
export async function takePaid(unit: Unit, row: InvoiceRow, amount: Decimal): Promise<InvoiceRow> {
  const left = row.amount_paid.minus(amount);
  if (left.lessThan(row.refunded_amount)) {
    const problem = 'more of the invoice was given back than would be left as paid';
    throw new Refused(new Refusal('invalid_operation', problem));
  }
  return writePayment(unit, row, paidPatch(unit, row, left));
}

/** Notes that money of a locked invoice was given back (docs/domain.md 19.3). */
export async function addRefunded(
  unit: Unit,
  row: InvoiceRow,
  amount: Decimal,
): Promise<InvoiceRow> {
  const refunded = row.refunded_amount.plus(amount);
  if (refunded.greaterThan(row.amount_paid)) {
    const problem = `${row.amount_paid.minus(row.refunded_amount).toFixed()} of the invoice is paid and not given back`;
    throw new Refused(new Refusal('invalid_operation', `only ${problem}`));
  }
  return takeBack(unit, row, { overpaid: ZERO, ofInvoice: amount });
}

/**
 * Notes what went back of the payments of a locked invoice: what was too much is not paid any more,
 * and the rest is given back of its price.
 */
export function takeBack(
  unit: Unit,
  row: InvoiceRow,
  { overpaid, ofInvoice }: Refundable,
): Promise<InvoiceRow> {
  const refunded_amount = row.refunded_amount.plus(ofInvoice);
  const sums = paidPatch(unit, { ...row, refunded_amount }, row.amount_paid.minus(overpaid));
  return writePayment(unit, row, { ...sums, refunded_amount });
}
