import { sql } from 'slonik';
import { z } from 'zod';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { PAYMENTS, type PaymentRow } from '../../declarations/money/payment.resource.js';
import { updateRecord } from '../../records/change-record.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { StatementUnit, Unit } from '../../records/unit.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import { findGatewayConnection } from '../gateways/open-gateway.js';
import { followPayment } from './follow-payment.js';
import { isGateway } from '../gateways/gateway-name.js';
import { TAKE_PAYMENT } from './gateway-work.js';
import type { HeldPayment } from './held-payment.js';
import { pageProblem } from './payment-pages.js';
import { findPayingProvider } from './provider-links.js';
import { writePayment } from './settle-invoice.js';

/** Whether a payment of an invoice, another one than this, is on its way at a gateway. */
export function isBeingCharged(
  { tx }: StatementUnit,
  { invoiceId, except = null }: { readonly invoiceId: string; readonly except?: string | null },
): Promise<boolean> {
  return tx.exists(sql.type(z.unknown())`
    SELECT FROM payments
    WHERE destination_id = ${invoiceId} AND payment_status = 'PROCESSING'
      AND id IS DISTINCT FROM ${except} AND ${isGateway(['payment_gateway'])} AND ${isOfEnvironment}`);
}

/** By what else an invoice is being paid, so that a payment must not be taken; null: by nothing. */
export async function paidOtherwise(
  unit: StatementUnit,
  { payment, invoice }: { readonly payment: PaymentRow; readonly invoice: InvoiceRow },
): Promise<string | null> {
  const { id: invoiceId } = invoice;
  const provider = await findPayingProvider(unit, invoiceId);
  if (provider !== null) {
    return `the invoice was sent to ${provider}, where it is paid; pull what is paid there`;
  }
  if (!(await isBeingCharged(unit, { invoiceId, except: payment.id }))) return null;
  return 'another payment of the invoice is in process; wait for its outcome';
}

/** What a gateway can take. */
const TAKEN = ['CARD', 'ACH', 'PAYMENT_LINK'];

/** The gateway that takes a payment now, by its name; refused when none does. */
async function takerOf(unit: Unit, { payment, invoice }: HeldPayment): Promise<string> {
  const { payment_method_type: method, payment_gateway: gateway } = payment;
  const name = (await findGatewayConnection(unit))?.provider_type;
  if (name === undefined || !TAKEN.includes(method) || (gateway ?? name) !== name) {
    const problem = `no gateway is configured that takes ${method}; report the outcome with PUT /payments/{id}`;
    throw new Refused(new Refusal('invalid_operation', problem));
  }
  const other = invoice === null ? null : await paidOtherwise(unit, { payment, invoice });
  if (other !== null) throw new Refused(new Refusal('invalid_operation', other));
  return name;
}

/** An invoice whose payment has failed waits for another one. */
async function awaitPayment(unit: Unit, invoice: InvoiceRow): Promise<InvoiceRow> {
  if (invoice.payment_status !== 'FAILED') return invoice;
  return writePayment(unit, invoice, { payment_status: 'PENDING' });
}

/**
 * Lets a gateway take a payment, after the unit: the payment and its invoice are in process until
 * the gateway says what became of it (docs/domain.md 17.3).
 */
export async function beginCharge(unit: Unit, held: HeldPayment): Promise<HeldPayment> {
  const gateway = await takerOf(unit, held);
  const invoice = held.invoice === null ? null : await awaitPayment(unit, held.invoice);
  const patch = { payment_gateway: gateway };
  const payment = await updateRecord(unit, PAYMENTS, { row: held.payment, patch });
  const begun = await followPayment(unit, { payment, invoice }, 'PROCESSING');
  await enqueue(unit, TAKE_PAYMENT, { input: { paymentId: held.payment.id } });
  return begun;
}

/**
 * Has the gateway open a page where the payer pays, after the unit. Until then, and while the page
 * is open, nothing is on its way: the invoice stays as it is (docs/domain.md 17.8).
 */
export async function beginPage(unit: Unit, held: HeldPayment): Promise<HeldPayment> {
  await takerOf(unit, held);
  const { payment, invoice } = held;
  const excess = invoice === null ? null : pageProblem(payment, invoice);
  if (excess !== null) throw new Refused(new Refusal('invalid_operation', excess));
  const begun =
    payment.payment_status === 'INITIATED'
      ? await followPayment(unit, { payment, invoice: null }, 'PENDING')
      : held;
  await enqueue(unit, TAKE_PAYMENT, { input: { paymentId: payment.id } });
  return { payment: begun.payment, invoice };
}
