import {
  PAYMENTS,
  paymentToDto,
  type PaymentRow,
} from '../../declarations/money/payment.resource.js';
import { PAYMENT } from '../../domain/lifecycle/money-lifecycle.js';
import { moveRecord } from '../../records/move-record.js';
import type { Unit } from '../../records/unit.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import { TAKE_PAYMENT } from './gateway-work.js';
import { moveRefusal, writePayment } from './settle-invoice.js';
import { withAttempt, type HeldPayment } from './held-payment.js';

/** How payments are told of. */
export const toldOfPayment = (row: PaymentRow) => Promise.resolve(paymentToDto(row));

function move(unit: Unit, id: string, status: 'PENDING' | 'PROCESSING' | 'FAILED') {
  const of = { target: { id }, lifecycle: PAYMENT, told: toldOfPayment } as const;
  switch (status) {
    case 'PENDING':
      return moveRecord(unit, PAYMENTS, { ...of, move: 'expect', to: 'PENDING' });
    case 'PROCESSING':
      return moveRecord(unit, PAYMENTS, { ...of, move: 'process', to: 'PROCESSING' });
    case 'FAILED':
      return moveRecord(unit, PAYMENTS, {
        ...of,
        move: 'fail',
        to: 'FAILED',
        patch: (row) => ({
          failed_at: unit.now,
          attempts: withAttempt(unit, row, { status: 'FAILED', error: row.error_message }),
        }),
      });
  }
}

/** A payment that fails or begins: the invoice follows while it waits for money. */
export async function followPayment(
  unit: Unit,
  { payment, invoice }: HeldPayment,
  status: 'PENDING' | 'PROCESSING' | 'FAILED',
): Promise<HeldPayment> {
  const after = await move(unit, payment.id, status);
  // What is over cannot be paid by its page any more.
  if (status === 'FAILED' && after.payment_url !== null) {
    await enqueue(unit, TAKE_PAYMENT, { input: { paymentId: after.id } });
  }
  if (invoice === null) return { payment: after, invoice };
  // An invoice that is paid already, or that another payment decides, stays as it is.
  if (moveRefusal(invoice, status) !== null) return { payment: after, invoice };
  const written = await writePayment(unit, invoice, { payment_status: status });
  return { payment: after, invoice: written };
}
