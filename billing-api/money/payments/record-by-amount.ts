import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { targetRefusal, type ChangeTarget } from '../../records/change-record.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { MemberReader } from '../../records/member-rules.js';
import type { DecimalText } from '../../records/record-dto.js';
import { accept, invalid, type Refusal, Refused } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import type { Unit } from '../../records/unit.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { readDocument } from '../../documents/store/read-documents.js';
import {
  isOpenAfterRefund,
  lockFinalized,
  moveRefusal,
  sumsAfter,
  writePayment,
} from './settle-invoice.js';
import { recordMoney } from './take-payment.js';

/**
 * At least one of the two.
 * @example {"amount": "100.00"}
 */
export interface RecordPaymentBody {
  /** Money that has come in, more than 0; it is added to what was paid before. */
  amount?: DecimalText;
  /**
   * Alone: SUCCEEDED records what is left to pay, PENDING and FAILED change nothing but the status.
   * With `amount` it must be what the invoice becomes by it.
   */
  payment_status?: 'PENDING' | 'SUCCEEDED' | 'OVERPAID' | 'FAILED';
}

type Recording = {
  readonly amount: Decimal | null;
  readonly status: RecordPaymentBody['payment_status'] | null;
};

function readRecording(
  { amount, payment_status: status = undefined }: RecordPaymentBody,
  { currency }: InvoiceRow,
): Recording | Refusal {
  if (amount === undefined && status === undefined) {
    return invalid({ amount: 'must be given, or payment_status, or both' });
  }
  const reader = new MemberReader();
  const money = reader.positive('amount', amount);
  if (money !== null) reader.minorDigits('amount', money, currency);
  if (amount === undefined && status === 'OVERPAID') {
    reader.note('payment_status', 'can be OVERPAID only with the amount that was paid');
  }
  return reader.refusal() ?? { amount: money, status: status ?? null };
}

/** The status alone: what is left is recorded, or the status changes and no money moves. */
async function recordStatus(
  unit: Unit,
  row: InvoiceRow,
  status: 'PENDING' | 'SUCCEEDED' | 'FAILED',
): Promise<InvoiceRow> {
  const left = row.amount_remaining;
  if (status === 'SUCCEEDED' && isOpenAfterRefund(row)) return recordMoney(unit, row, left);
  const refusal = moveRefusal(row, status);
  if (refusal !== null) throw new Refused(refusal);
  if (status === 'SUCCEEDED' && left.greaterThan(ZERO)) return recordMoney(unit, row, left);
  return writePayment(unit, row, { payment_status: status });
}

async function recordAmount(
  unit: Unit,
  row: InvoiceRow,
  { amount, status }: Recording & { readonly amount: Decimal },
): Promise<InvoiceRow> {
  const { payment_status: follows } = await sumsAfter(unit, row, amount);
  if (status !== null && status !== follows) {
    const problem = `would be ${follows} after this amount, not ${status}`;
    throw new Refused(invalid({ payment_status: problem }));
  }
  return recordMoney(unit, row, amount);
}

/**
 * PUT /invoices/{id}/payment: records money that has come in for a finalized invoice, each time as
 * a payment of its own, or what became of its payment (docs/domain.md 17.1).
 */
export const recordByAmount = writeOperation(
  async (
    unit,
    { target, body }: { readonly target: ChangeTarget; readonly body: RecordPaymentBody },
  ): Promise<InvoiceDocument> => {
    const row = await lockFinalized(unit, target.id);
    const recording = accept(readRecording(body, row));
    accept(targetRefusal(INVOICES, row, target));
    const { amount, status } = recording;
    const after =
      amount === null
        ? await recordStatus(unit, row, status === 'OVERPAID' ? 'SUCCEEDED' : (status ?? 'PENDING'))
        : await recordAmount(unit, row, { amount, status });
    return readDocument(unit, after.id);
  },
);
