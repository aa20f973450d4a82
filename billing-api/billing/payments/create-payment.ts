import { sql } from 'slonik';
import { plain, ZERO, type Decimal } from '../../../contract/decimal.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  PAYMENTS,
  type CreatePaymentBody,
  type PaymentRow,
} from '../../declarations/money/payment.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { invalid, isRefusal, Refusal } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { lockFinalized } from './settle-invoice.js';
import { newPayment, processPayment, storePayment } from './take-payment.js';

/** Which members go with which method (docs/domain.md 17.2). */
function checkMethod(reader: MemberReader, body: CreatePaymentBody): void {
  const { payment_method_type: method, payment_method_id: id, payment_gateway: gateway } = body;
  if (method === 'OFFLINE' && id !== undefined) {
    reader.note('payment_method_id', 'must be absent for an OFFLINE payment');
  }
  if ((method === 'ACH' || method === 'UPI') && id === undefined) {
    reader.note('payment_method_id', `is required for ${method}`);
  }
  if (method === 'PAYMENT_LINK' && gateway === undefined) {
    reader.note('payment_gateway', 'is required for PAYMENT_LINK');
  }
}

function readPayment(body: CreatePaymentBody) {
  if (body.destination_type === 'CUSTOMER') {
    return invalid({ destination_type: 'CUSTOMER is planned; name the invoice that is paid' });
  }
  const reader = new MemberReader();
  const currency = reader.currency('currency', body.currency);
  const bad = reader.refusal();
  if (bad !== null) return bad;
  // Absent means zero: a bad amount, for which the request is refused.
  const amount: Decimal = reader.positive('amount', body.amount) ?? ZERO;
  reader.minorDigits('amount', amount, currency);
  checkMethod(reader, body);
  const isPending =
    body.process_payment === true || ['OFFLINE', 'CREDITS'].includes(body.payment_method_type);
  return (
    reader.refusal() ?? {
      amount,
      currency,
      idempotency_key: body.idempotency_key ?? null,
      payment_method_type: body.payment_method_type,
      payment_method_id: body.payment_method_id ?? null,
      payment_gateway: body.payment_gateway ?? null,
      payment_status: isPending ? ('PENDING' as const) : ('INITIATED' as const),
      metadata: reader.metadata(body.metadata),
    }
  );
}
type PaymentRequest = Exclude<ReturnType<typeof readPayment>, Refusal>;

/** An earlier payment that this request repeats; null when it is a new one. */
function findRepeated(
  { tx }: Unit,
  { id }: InvoiceRow,
  request: PaymentRequest,
): Promise<PaymentRow | null> {
  if (request.idempotency_key !== null) {
    return tx.maybeOne(sql.type(PAYMENTS.row)`
      SELECT * FROM payments
      WHERE idempotency_key = ${request.idempotency_key} AND ${isOfEnvironment}`);
  }
  return tx.maybeOne(sql.type(PAYMENTS.row)`
    SELECT * FROM payments
    WHERE destination_id = ${id} AND amount = ${plain(request.amount)}::numeric
      AND currency = ${request.currency} AND payment_method_type = ${request.payment_method_type}
      AND payment_method_id IS NOT DISTINCT FROM ${request.payment_method_id}
      AND payment_gateway IS NOT DISTINCT FROM ${request.payment_gateway}
      AND payment_status NOT IN ('FAILED', 'VOIDED') AND status = 'published'
      AND idempotency_key IS NULL AND ${isOfEnvironment}
    ORDER BY created_at, id LIMIT 1`);
}

/** Why an invoice takes no payment of this request; null when it does. */
function problemOf(invoice: InvoiceRow, request: PaymentRequest): Refusal | null {
  const { payment_status: status, currency } = invoice;
  if (status === 'SUCCEEDED' || status === 'OVERPAID') {
    return new Refusal('invalid_operation', `the invoice is ${status}: nothing is left to pay`);
  }
  if (currency === request.currency) return null;
  return invalid({ currency: `must be ${currency}, the currency of the invoice` });
}

/**
 * POST /payments: a payment of a finalized invoice that is not paid yet; with `process_payment`
 * its money is taken at once. A repeated request answers the first payment.
 */
export function createPayment(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreatePaymentBody,
): Promise<PaymentRow | Refusal> {
  const request = readPayment(body);
  if (isRefusal(request)) return Promise.resolve(request);
  return writeUnit(dependencies, occasion, async (unit) => {
    const invoice = await lockFinalized(unit, body.destination_id);
    if (isRefusal(invoice)) return invoice;
    const repeated = await findRepeated(unit, invoice, request);
    if (repeated !== null) return repeated;
    const problem = problemOf(invoice, request);
    if (problem !== null) return problem;
    const payment = await storePayment(unit, newPayment(invoice, request));
    if (isRefusal(payment) || body.process_payment !== true) return payment;
    const done = await processPayment(unit, { payment, invoice });
    return isRefusal(done) ? done : done.payment;
  });
}
