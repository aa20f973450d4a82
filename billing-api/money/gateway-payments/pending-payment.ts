import type { ConnectionRow } from '../../declarations/exports/connection.resource.js';
import { PAYMENTS, type PaymentRow } from '../../declarations/money/payment.resource.js';
import { findRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { mustWrite, type ReadUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { findGatewayConnection, type GatewayAccess } from '../gateways/open-gateway.js';
import type { Charge } from '../gateways/payment-gateway.js';
import { findPayerId } from '../payments/provider-links.js';

/** What taking payments by a gateway needs. */
export type GatewayNeeds = WriteDependencies & GatewayAccess;

/** A payment that something is to be done for at the gateway. */
export type Pending = {
  readonly payment: PaymentRow;
  readonly connection: ConnectionRow | null;
  readonly payerId: string | null;
};

/** Whether a payer pays by a page of the gateway. */
export const isByPage = ({ payment_method_type: method }: PaymentRow): boolean =>
  method === 'PAYMENT_LINK';

/** A payment whose money is to be taken, or whose page is to be served; null for none. */
export async function findPending(unit: ReadUnit, paymentId: string): Promise<Pending | null> {
  const payment = await findRecord(unit, PAYMENTS, paymentId);
  if (payment === null) return null;
  if (!isByPage(payment) && payment.payment_status !== 'PROCESSING') return null;
  const connection = await findGatewayConnection(unit);
  return { payment, connection, payerId: await findPayerId(unit, payment.customer_id) };
}

/** What the gateway is asked for. */
export function chargeOf({ payment, payerId }: Pending): Charge {
  const invoiceId = payment.destination_type === 'INVOICE' ? payment.destination_id : null;
  return {
    paymentId: payment.id,
    invoiceId,
    payerId,
    invoiceNumber: payment.invoice_number,
    amount: payment.amount,
    currency: payment.currency,
    methodId: payment.payment_method_id,
  };
}

/** Writes what became of something at the gateway. @throws what is refused, for the job to fail. */
export async function noteThere<T>(
  needs: GatewayNeeds,
  occasion: Occasion<JobActor>,
  work: (unit: Unit) => Promise<T>,
): Promise<T> {
  return mustWrite(needs, occasion, work);
}
