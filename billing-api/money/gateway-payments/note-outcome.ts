import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { sql } from 'slonik';
import { z } from 'zod';
import { decimalOf, plain, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import { noRows, numericColumn } from '../../../sql/columns.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { PAYMENTS, type PaymentRow } from '../../declarations/money/payment.resource.js';
import { postingsOfRoundedPayment } from '../../domain/ledger/postings.js';
import { problemOfMove, isIn } from '../../domain/lifecycle/lifecycle.js';
import { PAYMENT } from '../../domain/lifecycle/money-lifecycle.js';
import { writtenOffOf } from '../../domain/payment/written-off.js';
import { changeRecord, updateRecord } from '../../records/change-record.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import { accept, notFound, Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { findGateway } from '../gateways/gateways.js';
import type { ChargeOutcome } from '../gateways/payment-gateway.js';
import { isBeingCharged } from '../payments/begin-charge.js';
import { followPayment } from '../payments/follow-payment.js';
import { holdPayment, type HeldPayment } from '../payments/held-payment.js';
import { planRetry } from '../payments/plan-retry.js';
import { succeed } from '../payments/take-payment.js';
import { refund } from '../payments/refund-payment.js';

/**
 * Locks a payment at the gateway after its invoice. What comes of it after the invoice was voided
 * is of the customer: then there is no invoice.
 */
export async function holdCharge(unit: Unit, id: string): Promise<HeldPayment> {
  const read = await readRecord(unit, PAYMENTS, id);
  if (read.destination_type === 'CUSTOMER') return holdPayment(unit, { id });
  const invoice = await lockRecord(unit, INVOICES, read.destination_id);
  const isVoided = invoice !== null && isIn(INVOICE, 'voided', invoice.invoice_status);
  if (!isVoided) return holdPayment(unit, { id });
  const payment = await lockRecord(unit, PAYMENTS, id);
  return accept(payment === null ? notFound(PAYMENTS.name, id) : { payment, invoice: null });
}

/** What a gateway has taken. */
type Received = { readonly received: Decimal; readonly chargeId?: string | null };

/** What is too little for the gateway to take, of a payment that settles its invoice. */
function writtenOff({ payment, invoice }: HeldPayment, received: Decimal): Decimal {
  if (invoice === null) return ZERO;
  const { amount: asked, currency, payment_gateway: name } = payment;
  const gateway = assertPresent(findGateway(name), 'the gateway that has taken the payment');
  const chargeable = gateway.chargeableOf(asked, currency);
  return writtenOffOf({ asked, chargeable, received, left: invoice.amount_remaining });
}

/** The money has arrived: counts once, with the amount that the gateway says. */
async function noteSuccess(
  unit: Unit,
  held: HeldPayment,
  { received, chargeId = null }: Received,
): Promise<HeldPayment> {
  const { payment, invoice } = held;
  if (problemOfMove(PAYMENT, 'succeed', payment.payment_status) !== null) return held;
  if (payment.payment_status === 'SUCCEEDED') return held;
  const { customer_id: customerId } = payment;
  const settled = received.plus(writtenOff(held, received));
  const patch = {
    amount: settled,
    gateway_payment_id: payment.gateway_payment_id ?? chargeId,
    ...(invoice === null
      ? { destination_type: 'CUSTOMER' as const, destination_id: customerId }
      : {}),
  };
  const given = await updateRecord(unit, PAYMENTS, { row: payment, patch });
  const postings = postingsOfRoundedPayment(received, settled);
  return succeed(unit, { payment: given, invoice }, { postings });
}

/** The money did not come. A success, and a failure that was noted, stay as they are. */
async function noteFailure(unit: Unit, held: HeldPayment, reason: string): Promise<HeldPayment> {
  const { payment } = held;
  if (problemOfMove(PAYMENT, 'fail', payment.payment_status) !== null) return held;
  const row = await changeRecord(unit, PAYMENTS, {
    target: { id: payment.id },
    change: () => ({ error_message: reason.slice(0, 1_000) }),
  });
  const follower = await followerOf(unit, held);
  const after = await followPayment(unit, { payment: row, invoice: follower }, 'FAILED');
  if (after.invoice === null) return after;
  await planRetry(unit, after.invoice);
  return after;
}

/**
 * The invoice that a payment which fails takes with it: none when the payment was a page that
 * nobody has paid by, or when another payment of the invoice is on its way.
 */
async function followerOf(
  unit: Unit,
  { payment, invoice }: HeldPayment,
): Promise<HeldPayment['invoice']> {
  if (invoice === null || payment.payment_status !== 'PROCESSING') {
    return payment.payment_method_type === 'PAYMENT_LINK' ? null : invoice;
  }
  return (await isBeingCharged(unit, { invoiceId: invoice.id, except: payment.id }))
    ? null
    : invoice;
}

/** Money that a page has led to is on its way; of a charge that is known. */
async function noteProcessing(unit: Unit, held: HeldPayment): Promise<HeldPayment> {
  const { payment_method_type: method, payment_status: status } = held.payment;
  if (method !== 'PAYMENT_LINK' || status !== 'PENDING') return held;
  return followPayment(unit, held, 'PROCESSING');
}

/** What a gateway says of a page is its end: nothing more is paid by it. */
async function endPage(unit: Unit, held: HeldPayment): Promise<HeldPayment> {
  const { payment: row, invoice } = held;
  if (row.payment_url === null) return held;
  const payment = await updateRecord(unit, PAYMENTS, { row, patch: { payment_url: null } });
  return { payment, invoice };
}

const withdrawnRow = z.object({ withdrawn_amount: numericColumn.transform(decimalOf) });

/** What banks have taken back of a payment; the gateway does not count it as refunded. */
async function findWithdrawn({ tx }: Unit, { payment }: HeldPayment): Promise<Decimal> {
  const row = await tx.one(sql.type(withdrawnRow)`
    SELECT withdrawn_amount FROM payments WHERE id = ${payment.id} AND ${isOfEnvironment}`);
  return row.withdrawn_amount;
}

/**
 * Notes what the gateway has refunded of a payment in all, beside what banks have taken back; less
 * than is noted is older news.
 */
async function noteRefunded(unit: Unit, held: HeldPayment, told: Decimal): Promise<PaymentRow> {
  return noteGone(unit, held, told.plus(await findWithdrawn(unit, held)));
}

/** Notes what of a payment is gone in all. */
async function noteGone(unit: Unit, held: HeldPayment, told: Decimal): Promise<PaymentRow> {
  const { payment } = held;
  const isNews = told.greaterThan(payment.refunded_amount);
  if (!isNews || problemOfMove(PAYMENT, 'refund', payment.payment_status) !== null) return payment;
  const isAll = told.greaterThanOrEqualTo(payment.amount);
  const refunded = isAll ? payment.amount : told;
  const status = isAll ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
  return refund(unit, held, { status, refunded, isGone: true });
}

/** The bank of the payer has taken money back: that is gone as if it had been refunded. */
async function noteWithdrawn(
  unit: Unit,
  held: HeldPayment,
  withdrawn: Decimal,
): Promise<PaymentRow> {
  const { id, payment_status: status, refunded_amount: refunded } = held.payment;
  if (status === 'REFUNDED') return held.payment;
  if (problemOfMove(PAYMENT, 'refund', status) === null) {
    const after = await noteGone(unit, held, refunded.plus(withdrawn));
    const taken = after.refunded_amount.minus(refunded);
    await unit.tx.query(sql.type(noRows)`
      UPDATE payments SET withdrawn_amount = withdrawn_amount + ${plain(taken)}::numeric
      WHERE id = ${id} AND ${isOfEnvironment}`);
    return after;
  }
  // The success comes later than what happened after it: nothing is noted, and this is sent again.
  const problem = `the payment is ${status}; send this again when it has succeeded`;
  throw new Refused(new Refusal('invalid_operation', problem));
}

/** What an outcome makes of a payment and its invoice. */
function settleOutcome(
  unit: Unit,
  held: HeldPayment,
  outcome: ChargeOutcome,
): Promise<HeldPayment> {
  switch (outcome.status) {
    case 'processing':
      return noteProcessing(unit, held);
    case 'failed':
      return noteFailure(unit, held, outcome.reason);
    case 'succeeded':
      return noteSuccess(unit, held, outcome);
  }
}

/** What a gateway says of a payment, by its answer or by a signal. */
export type ToldOfCharge = {
  readonly outcome: ChargeOutcome;
  readonly refunded: Decimal | null;
  readonly withdrawn?: Decimal;
};

/**
 * Notes what became of a payment at the gateway. What is told twice, late, or in another order
 * leads to the same end: a success counts once and is never undone by a failure, and refunds only
 * grow (docs/domain.md 17.6).
 */
export async function noteOutcome(
  unit: Unit,
  paymentId: string,
  { outcome, refunded, withdrawn }: ToldOfCharge,
): Promise<PaymentRow> {
  const found = await holdCharge(unit, paymentId);
  const held = await endPage(unit, found);
  if (withdrawn !== undefined) return noteWithdrawn(unit, held, withdrawn);
  const after = await settleOutcome(unit, held, outcome);
  return refunded === null ? after.payment : noteRefunded(unit, after, refunded);
}
