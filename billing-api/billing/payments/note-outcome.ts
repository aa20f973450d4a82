import type { Decimal } from '../../../contract/decimal.js';
import { PAYMENTS, type PaymentRow } from '../../declarations/money/payment.resource.js';
import { problemOfMove } from '../../domain/lifecycle/lifecycle.js';
import { PAYMENT } from '../../domain/lifecycle/money-lifecycle.js';
import { changeRecord, updateRecord } from '../../records/change-record.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { ChargeOutcome } from '../gateways/payment-gateway.js';
import { refund } from './change-payment.js';
import { followPayment } from './follow-payment.js';
import { holdPayment, type HeldPayment } from './held-payment.js';
import { succeed } from './take-payment.js';

/** The money has arrived: counts once, with the amount that the gateway says. */
async function noteSuccess(
  unit: Unit,
  held: HeldPayment,
  received: Decimal,
): Promise<HeldPayment | Refusal> {
  const { payment, invoice } = held;
  if (problemOfMove(PAYMENT, 'succeed', payment.payment_status) !== null) return held;
  if (payment.payment_status === 'SUCCEEDED') return held;
  const patch = { amount: received };
  const given = payment.amount.equals(received)
    ? payment
    : await updateRecord(unit, PAYMENTS, { row: payment, patch });
  return isRefusal(given) ? given : succeed(unit, { payment: given, invoice });
}

/** The money did not come. A success, and a failure that was noted, stay as they are. */
async function noteFailure(
  unit: Unit,
  held: HeldPayment,
  reason: string,
): Promise<HeldPayment | Refusal> {
  const { payment, invoice } = held;
  if (problemOfMove(PAYMENT, 'fail', payment.payment_status) !== null) return held;
  const row = await changeRecord(unit, PAYMENTS, {
    target: { id: payment.id },
    change: () => ({ error_message: reason.slice(0, 1_000) }),
  });
  return isRefusal(row) ? row : followPayment(unit, { payment: row, invoice }, 'FAILED');
}

/** Notes what the gateway has given back of a payment in all; less than is noted is older news. */
async function noteRefunded(
  unit: Unit,
  held: HeldPayment,
  told: Decimal,
): Promise<PaymentRow | Refusal> {
  const { payment } = held;
  const isNews = told.greaterThan(payment.refunded_amount);
  if (!isNews || problemOfMove(PAYMENT, 'refund', payment.payment_status) !== null) return payment;
  const isAll = told.greaterThanOrEqualTo(payment.amount);
  const refunded = isAll ? payment.amount : told;
  return refund(unit, held, { status: isAll ? 'REFUNDED' : 'PARTIALLY_REFUNDED', refunded });
}

/** What a gateway says of a payment, by its answer or by a signal. */
export type ToldOfCharge = { readonly outcome: ChargeOutcome; readonly refunded: Decimal | null };

/**
 * Notes what became of a payment at the gateway. What is told twice, late, or in another order
 * leads to the same end: a success counts once and is never undone by a failure, and refunds only
 * grow (docs/domain.md 17.6).
 */
export async function noteOutcome(
  unit: Unit,
  paymentId: string,
  { outcome, refunded }: ToldOfCharge,
): Promise<PaymentRow | Refusal> {
  const held = await holdPayment(unit, { id: paymentId });
  if (isRefusal(held)) return held;
  switch (outcome.status) {
    case 'processing':
      return held.payment;
    case 'failed': {
      const after = await noteFailure(unit, held, outcome.reason);
      return isRefusal(after) ? after : after.payment;
    }
    case 'succeeded': {
      const after = await noteSuccess(unit, held, outcome.received);
      if (isRefusal(after) || refunded === null) return isRefusal(after) ? after : after.payment;
      return noteRefunded(unit, after, refunded);
    }
  }
}
