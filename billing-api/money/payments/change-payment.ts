import type { Decimal } from '../../../contract/number/decimal.js';
import {
  PAYMENTS,
  type ChangePaymentBody,
  type PaymentRow,
} from '../../declarations/money/payment.resource.js';
import { problemOfMove } from '../../domain/lifecycle/lifecycle.js';
import { PAYMENT } from '../../domain/lifecycle/money-lifecycle.js';
import {
  changeRecord,
  targetRefusal,
  updateRecord,
  type ChangeTarget,
} from '../../records/change-record.js';
import { lockRecord } from '../../records/find-record.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { Patch } from '../../records/resource.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import { moveRecord } from '../../records/move-record.js';
import type { Occasion } from '../../records/occasion.js';
import { invalid, isRefusal, notFound, Refusal, accept, Refused } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { refund } from './refund-payment.js';
import { takeFromCustomer } from './credit-customer.js';
import { followPayment, toldOfPayment } from './follow-payment.js';
import { giveBack } from './give-back.js';
import { holdPayment, type HeldPayment } from './held-payment.js';
import { isKnownAtGateway } from './payment-pages.js';
import { takePaid } from './settle-invoice.js';
import { processPayment, succeed } from './take-payment.js';

const told = toldOfPayment;

async function voidPayment(unit: Unit, { payment, invoice }: HeldPayment): Promise<PaymentRow> {
  const after = await moveRecord(unit, PAYMENTS, {
    target: { id: payment.id },
    lifecycle: PAYMENT,
    move: 'void',
    to: 'VOIDED',
    told,
    patch: () => ({ voided_at: unit.now }),
  });
  const { amount } = payment;
  if (invoice === null) return takeFromCustomer(unit, after, { kind: 'payment.voided', amount });
  await takePaid(unit, invoice, amount);
  return giveBack(unit, after, {
    kind: 'payment.voided',
    amount,
    account: 'receivable',
  });
}

const isRefund = (status: ChangePaymentBody['payment_status']): boolean =>
  status === 'REFUNDED' || status === 'PARTIALLY_REFUNDED';

/** Why a payment cannot have been given back so much in all; null when it can. */
function refundedProblem(
  refunded: Decimal,
  status: ChangePaymentBody['payment_status'],
  { amount, refunded_amount: before }: PaymentRow,
): string | null {
  if (refunded.greaterThan(amount)) return 'must not be above amount';
  if (refunded.lessThan(before)) {
    return `must not be below ${before.toFixed()}, which was given back`;
  }
  const isWrong = status === 'REFUNDED' && !refunded.equals(amount);
  return isWrong ? 'must be amount for REFUNDED' : null;
}

/** How much of a payment a request says was given back in all; null when it says nothing of it. */
function readRefunded(body: ChangePaymentBody, payment: PaymentRow): Decimal | null | Refusal {
  const { payment_status: status, refunded_amount: text } = body;
  if (status === 'REFUNDED' && text === undefined) return payment.amount;
  const reader = new MemberReader();
  const refunded = reader.positive('refunded_amount', text);
  if (isRefund(status) !== (text !== undefined)) {
    const problem = 'goes with payment_status PARTIALLY_REFUNDED or REFUNDED, and they with it';
    reader.note('refunded_amount', problem);
  }
  if (refunded !== null) {
    reader.minorDigits('refunded_amount', refunded, payment.currency);
    reader.note('refunded_amount', refundedProblem(refunded, status, payment));
  }
  return reader.refusal() ?? refunded;
}

async function paymentOf(held: Promise<HeldPayment | Refusal>): Promise<PaymentRow | Refusal> {
  const result = await held;
  return isRefusal(result) ? result : result.payment;
}

/** A payment whose success is told; what is told again changes nothing. */
async function succeedOnce(unit: Unit, held: HeldPayment): Promise<PaymentRow> {
  const { payment } = held;
  if (['SUCCEEDED', 'OVERPAID'].includes(payment.payment_status)) return payment;
  const problem = problemOfMove(PAYMENT, 'succeed', payment.payment_status);
  if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
  return accept(await paymentOf(succeed(unit, held)));
}

type Outcome = {
  readonly status: PaymentRow['payment_status'];
  readonly refunded: Decimal | null;
};

async function moveTo(
  unit: Unit,
  held: HeldPayment,
  { status, refunded }: Outcome,
): Promise<PaymentRow> {
  switch (status) {
    case 'PENDING':
    case 'PROCESSING':
    case 'FAILED':
      return accept(await paymentOf(followPayment(unit, held, status)));
    case 'SUCCEEDED':
    case 'OVERPAID':
      return succeedOnce(unit, held);
    case 'PARTIALLY_REFUNDED':
    case 'REFUNDED':
      return refund(unit, held, {
        status,
        refunded: assertPresent(refunded, 'how much was given back'),
      });
    case 'VOIDED':
      return voidPayment(unit, held);
    case 'INITIATED':
      throw new Refused(
        accept(
          await Promise.resolve(
            invalid({
              payment_status: 'must not be INITIATED, where a payment begins',
            }),
          ),
        ),
      );
  }
}

type PaymentPatch = Patch<(typeof PAYMENTS)['columns']>;

function membersOf(body: ChangePaymentBody): PaymentPatch | Refusal {
  const reader = new MemberReader();
  const patch = givenOf({
    error_message: body.error_message,
    metadata: reader.changedMetadata(body.metadata),
  });
  return reader.refusal() ?? patch;
}

/** Tells what became of a payment, after its own members were changed. */
async function report(
  unit: Unit,
  target: ChangeTarget,
  { body, status, patch }: Report,
): Promise<PaymentRow> {
  const held = await holdPayment(unit, target);
  const isChanged = Object.keys(patch).length > 0;
  const payment = isChanged
    ? await changeRecord(unit, PAYMENTS, { target, change: () => patch })
    : held.payment;
  const refunded = accept(readRefunded(body, payment));
  return moveTo(unit, { payment, invoice: held.invoice }, { status, refunded });
}

type Report = {
  readonly body: ChangePaymentBody;
  readonly status: PaymentRow['payment_status'];
  readonly patch: PaymentPatch;
};

/**
 * PUT /payments/{id}: what became of a payment elsewhere, and its own members. What is told late or
 * twice never undoes or repeats what has happened (docs/domain.md 5.3).
 */
export function changePayment(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangePaymentBody },
): Promise<PaymentRow | Refusal> {
  const { payment_status: status } = body;
  const patch = membersOf(body);
  if (isRefusal(patch)) return Promise.resolve(patch);
  return writeUnit(dependencies, occasion, (unit) =>
    status === undefined
      ? changeRecord(unit, PAYMENTS, { target, change: () => patch })
      : report(unit, target, { body, status, patch }),
  );
}

/** POST /payments/{id}/process: takes the money of a payment now. */
export function processById(
  dependencies: WriteDependencies,
  occasion: Occasion,
  target: ChangeTarget,
): Promise<PaymentRow | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const held = await holdPayment(unit, target);
    const problem = problemOfMove(PAYMENT, 'process', held.payment.payment_status);
    if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
    return accept(await paymentOf(processPayment(unit, held)));
  });
}

/** Takes away a payment with which nothing has happened. */
export const removePayment = writeOperation(
  async (unit, target: ChangeTarget): Promise<PaymentRow> => {
    const row = await lockRecord(unit, PAYMENTS, target.id);
    if (row === null) throw new Refused(notFound(PAYMENTS.name, target.id));
    accept(targetRefusal(PAYMENTS, row, target));
    if (row.payment_status !== 'INITIATED' && row.payment_status !== 'FAILED') {
      const problem = `the payment is ${row.payment_status}; only one that is INITIATED or FAILED can be removed`;
      throw new Refused(new Refusal('invalid_operation', problem));
    }
    if (await isKnownAtGateway(unit, row)) {
      const problem =
        'the payment is known at the gateway, which may tell of its money still; leave it as it is';
      throw new Refused(new Refusal('invalid_operation', problem));
    }
    return updateRecord(unit, PAYMENTS, { row, patch: { status: 'deleted' } });
  },
);
