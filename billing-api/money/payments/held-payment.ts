import { formatInstant } from '../../../contract/instant.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { PAYMENTS, type PaymentRow } from '../../declarations/money/payment.resource.js';
import { targetRefusal, type ChangeTarget } from '../../records/change-record.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import { accept, notFound, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { lockFinalized } from './settle-invoice.js';

/** A payment and its invoice, both locked; null: the money is of a customer, for no invoice yet. */
export type HeldPayment = { readonly payment: PaymentRow; readonly invoice: InvoiceRow | null };

/** Locks a payment after its invoice, as everything that changes both does. */
export async function holdPayment(unit: Unit, target: ChangeTarget): Promise<HeldPayment> {
  const read = await readRecord(unit, PAYMENTS, target.id);
  const isForInvoice = read.destination_type === 'INVOICE';
  const invoice = isForInvoice ? await lockFinalized(unit, read.destination_id) : null;
  const payment = await lockRecord(unit, PAYMENTS, target.id);
  if (payment === null) throw new Refused(notFound(PAYMENTS.name, target.id));
  return accept(targetRefusal(PAYMENTS, payment, target) ?? { payment, invoice });
}

/** The attempts of a payment with one more. */
export function withAttempt(
  unit: Unit,
  payment: PaymentRow,
  outcome: { readonly status: PaymentRow['payment_status']; readonly error: string | null },
): PaymentRow['attempts'] {
  const attempt = {
    id: unit.newId('attempt'),
    attempt_number: payment.attempts.length + 1,
    payment_status: outcome.status,
    error_message: outcome.error,
    created_at: formatInstant(unit.now),
  };
  return [...payment.attempts, attempt];
}
