import { sql } from 'slonik';
import { plain, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { CUSTOMERS } from '../../declarations/customers/customer.resource.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  PAYMENTS,
  type CreatePaymentBody,
  type NewPayment,
  type PaymentRow,
} from '../../declarations/money/payment.resource.js';
import { holdPublishedCustomer } from '../../owners/hold-customer.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { accept, invalid, isRefusal, notFound, Refusal, Refused } from '../../records/refusal.js';
import { repeatedRecord } from '../../records/repeated-key.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import type { PageAddresses } from '../gateways/payment-gateway.js';
import { isGatewayName } from '../gateways/gateway-name.js';
import type { HeldPayment } from './held-payment.js';
import { storeAddresses } from './payment-pages.js';
import { lockFinalized } from './settle-invoice.js';
import { newCustomerPayment, newPayment, processPayment, storePayment } from './take-payment.js';

/** Which members go with which method (docs/domain.md 17.2). */
function checkMethod(reader: MemberReader, body: CreatePaymentBody): void {
  const { payment_method_type: method, payment_method_id: id, payment_gateway: gateway } = body;
  if (method === 'OFFLINE' && id !== undefined) {
    reader.note('payment_method_id', 'must be left out for an OFFLINE payment');
  }
  if ((method === 'ACH' || method === 'UPI') && id === undefined) {
    reader.note('payment_method_id', `is required for ${method}`);
  }
  if (method === 'CREDITS' && body.destination_type === 'CUSTOMER') {
    reader.note('payment_method_type', 'must not be CREDITS for a CUSTOMER, who has them already');
  }
  if (method === 'PAYMENT_LINK' && gateway === undefined) {
    reader.note('payment_gateway', 'is required for PAYMENT_LINK');
  }
}

/** Why a payer cannot be sent to an address; null when they can. */
function addressProblem(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPage = url !== null && ['http:', 'https:'].includes(url.protocol);
  return isPage ? null : 'must be an http or https address';
}

/** Where the payer goes from the page of a payment; null for a payment without a page. */
function readAddresses(reader: MemberReader, body: CreatePaymentBody): PageAddresses | null {
  const { payment_method_type: method, success_url: success, cancel_url: cancel } = body;
  const addresses = { success_url: success, cancel_url: cancel };
  for (const [member, address] of Object.entries(addresses)) {
    if (address === undefined) continue;
    const isOfPage = method === 'PAYMENT_LINK';
    reader.note(member, isOfPage ? addressProblem(address) : 'goes with PAYMENT_LINK');
  }
  if (method !== 'PAYMENT_LINK' || !isGatewayName(body.payment_gateway)) return null;
  if (success === undefined) {
    reader.note('success_url', `is required for PAYMENT_LINK by ${body.payment_gateway}`);
    return null;
  }
  return { success, cancel: cancel ?? null };
}

function readPayment(body: CreatePaymentBody) {
  const reader = new MemberReader();
  const currency = reader.currency('currency', body.currency);
  const bad = reader.refusal();
  if (bad !== null) return bad;
  // Absent means zero: a bad amount, for which the request is refused.
  const amount: Decimal = reader.positive('amount', body.amount) ?? ZERO;
  reader.minorDigits('amount', amount, currency);
  checkMethod(reader, body);
  const addresses = readAddresses(reader, body);
  reader.rejectUnsupported(body, ['save_card_and_make_default']);
  const isPending =
    body.process_payment === true || ['OFFLINE', 'CREDITS'].includes(body.payment_method_type);
  return (
    reader.refusal() ?? {
      addresses,
      given: {
        amount,
        currency,
        idempotency_key: body.idempotency_key ?? null,
        payment_method_type: body.payment_method_type,
        payment_method_id: body.payment_method_id ?? null,
        payment_gateway: body.payment_gateway ?? null,
        payment_status: isPending ? ('PENDING' as const) : ('INITIATED' as const),
        metadata: reader.metadata(body.metadata),
      },
    }
  );
}
type PaymentRequest = Exclude<ReturnType<typeof readPayment>, Refusal>;
type Given = PaymentRequest['given'];

/** The payment of an earlier request with the same key; null when there is none. */
async function findByKey({ tx }: Unit, key: string | null): Promise<PaymentRow | null> {
  if (key === null) return null;
  return tx.maybeOne(sql.type(PAYMENTS.row)`
    SELECT * FROM payments WHERE idempotency_key = ${key} AND ${isOfEnvironment}`);
}

/** An earlier payment of the invoice that this request repeats; null when it is a new one. */
async function findRepeated(
  unit: Unit,
  { id }: InvoiceRow,
  request: Given,
): Promise<PaymentRow | null> {
  const { idempotency_key: key } = request;
  if (key !== null) return findByKey(unit, key);
  return unit.tx.maybeOne(sql.type(PAYMENTS.row)`
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
function problemOf(invoice: InvoiceRow, request: Given): Refusal | null {
  const { payment_status: status, currency } = invoice;
  if (status === 'SUCCEEDED' || status === 'OVERPAID') {
    return new Refusal('invalid_operation', `the invoice is ${status}: nothing is left to pay`);
  }
  if (currency === request.currency) return null;
  return invalid({ currency: `must be ${currency}, the currency of the invoice` });
}

/** A payment that is repeated; refused when its key came with another one. */
function sameOf(
  payment: PaymentRow,
  { destinationId, request }: { readonly destinationId: string; readonly request: Given },
): Stored | Refusal {
  // What a gateway has received takes the place of what was asked for.
  const isAmount = payment.gateway_payment_id !== null || payment.amount.equals(request.amount);
  const isSame =
    isAmount &&
    payment.destination_id === destinationId &&
    payment.currency === request.currency &&
    payment.payment_method_type === request.payment_method_type;
  const repeated = repeatedRecord(payment, { what: 'payment', isSame });
  return isRefusal(repeated) ? repeated : { repeated };
}

/** Stores a new payment with where its payer goes. */
async function storeNew(
  unit: Unit,
  values: NewPayment,
  { addresses }: PaymentRequest,
): Promise<PaymentRow> {
  const payment = await storePayment(unit, values);
  if (!isRefusal(payment) && addresses !== null) await storeAddresses(unit, payment, addresses);
  return payment;
}

/** A new payment of an invoice, or the one that is repeated. */
async function payInvoice(unit: Unit, invoiceId: string, request: PaymentRequest): Promise<Stored> {
  const { given } = request;
  const invoice = await lockFinalized(unit, invoiceId);
  const repeated = await findRepeated(unit, invoice, given);
  if (repeated !== null)
    return accept(sameOf(repeated, { destinationId: invoice.id, request: given }));
  accept(problemOf(invoice, given));
  const payment = await storeNew(unit, newPayment(invoice, given), request);
  return { payment, invoice };
}

/** A new payment of a customer for no invoice yet, or the one with the same key. */
async function payCustomer(
  unit: Unit,
  customerId: string,
  request: PaymentRequest,
): Promise<Stored> {
  const customer = await holdPublishedCustomer(unit.tx, { id: customerId, externalId: null });
  if (customer === null) throw new Refused(notFound(CUSTOMERS.name, customerId));
  const { given } = request;
  const repeated = await findByKey(unit, given.idempotency_key);
  if (repeated !== null)
    return accept(sameOf(repeated, { destinationId: customer.id, request: given }));
  const payment = await storeNew(unit, newCustomerPayment(customer.id, given), request);
  return { payment, invoice: null };
}

type Stored = HeldPayment | { readonly repeated: PaymentRow };

/**
 * POST /payments: a payment of a finalized invoice that is not paid yet, or money of a customer for
 * no invoice yet; with `process_payment` it is taken at once. A repeated request answers the first
 * payment.
 */
export function createPayment(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreatePaymentBody,
): Promise<PaymentRow | Refusal> {
  const request = readPayment(body);
  if (isRefusal(request)) return Promise.resolve(request);
  const { destination_type: type, destination_id: id } = body;
  return writeUnit(dependencies, occasion, async (unit) => {
    const stored = await (type === 'INVOICE' ? payInvoice : payCustomer)(unit, id, request);
    if ('repeated' in stored) return stored.repeated;
    if (body.process_payment !== true) return stored.payment;
    const done = await processPayment(unit, stored);
    return done.payment;
  });
}
