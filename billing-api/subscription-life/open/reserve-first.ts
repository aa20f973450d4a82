import { sql } from 'slonik';
import { DependencyError } from '../../../runtime/failure.js';
import type { PaymentRow } from '../../declarations/money/payment.resource.js';
import { PAYMENTS } from '../../declarations/money/payment.resource.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { updateRecord } from '../../records/change-record.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal, Refused } from '../../records/refusal.js';
import { mustRead, type Unit, writeUnit } from '../../records/unit.js';
import { findGatewayConnection, openGateway } from '../../money/gateways/open-gateway.js';
import { GatewayUnavailable, type PaymentGateway } from '../../money/gateways/payment-gateway.js';
import { isGateway } from '../../money/gateways/gateway-name.js';
import type { GatewayNeeds } from '../../money/gateway-payments/pending-payment.js';
import { findPayerId } from '../../money/payments/provider-links.js';

const UNPAID = 'the first payment did not succeed, so nothing was stored';

/** Undoes a unit: it is done again once the gateway has reserved its first payment. */
class ReservationWanted extends Refusal {
  constructor(readonly payment: PaymentRow) {
    super('invalid_operation', UNPAID);
  }
}

/** Money that a gateway has set aside for a payment and has not taken yet. */
export type Reservation = { readonly id: string; readonly payment: PaymentRow };

const isSamePayment = (left: PaymentRow, right: PaymentRow): boolean =>
  left.amount.equals(right.amount) &&
  left.currency === right.currency &&
  left.customer_id === right.customer_id &&
  left.payment_method_id === right.payment_method_id;

/**
 * Gives the payment of an opening invoice that a gateway is to take the money which is reserved for
 * it. Without a reservation, or with one for something else, the unit is undone.
 */
export async function useReservation(
  unit: Unit,
  invoice: InvoiceRow,
  reservation: Reservation | null,
): Promise<PaymentRow> {
  const payment = await unit.tx.maybeOne(sql.type(PAYMENTS.row)`
    SELECT * FROM payments
    WHERE destination_id = ${invoice.id} AND payment_status = 'PROCESSING'
      AND ${isGateway(['payment_gateway'])} AND ${isOfEnvironment}`);
  if (payment === null) throw new Refused(new Refusal('invalid_operation', UNPAID));
  if (reservation === null) throw new Refused(new ReservationWanted(payment));
  if (!isSamePayment(payment, reservation.payment)) {
    const problem = 'what is to be paid first has changed meanwhile; send the request again';
    throw new Refused(new Refusal('version_conflict', problem));
  }
  const patch = { gateway_payment_id: reservation.id };
  return updateRecord(unit, PAYMENTS, { row: payment, patch });
}

/** Asks the gateway to set the money of a payment aside. */
async function reserve(
  gateway: PaymentGateway,
  payment: PaymentRow,
  payerId: string | null,
): Promise<Reservation | Refusal> {
  try {
    const reserved = await gateway.reserve({
      paymentId: payment.id,
      invoiceId: null,
      invoiceNumber: null,
      payerId,
      amount: payment.amount,
      currency: payment.currency,
      methodId: payment.payment_method_id,
    });
    if (reserved.status === 'prepared') return { id: reserved.id, payment };
    return new Refusal('invalid_operation', `${UNPAID}: ${reserved.reason}`);
  } catch (error) {
    if (!(error instanceof GatewayUnavailable)) throw error;
    return new Refusal('service_unavailable', `${error.message}; nothing was stored`);
  }
}

async function openOwnGateway(
  needs: GatewayNeeds,
  occasion: Occasion,
  { customer_id: customerId }: PaymentRow,
) {
  const { connection, payerId } = await mustRead(needs, occasion, async (unit) => ({
    connection: await findGatewayConnection(unit),
    payerId: await findPayerId(unit, customerId),
  }));
  if (connection === null) return new Refusal('invalid_operation', UNPAID);
  return { gateway: await openGateway(needs, connection), payerId };
}

/**
 * Does a unit whose first payment must succeed (docs/domain.md 17.3). Where a gateway is to take
 * it, the unit is done in vain first, which tells how much that is; then the gateway sets the money
 * aside, and only then is anything stored. What is reserved and certainly not stored is let go.
 */
export async function withFirstPayment<T>(
  needs: GatewayNeeds,
  occasion: Occasion,
  work: (unit: Unit, reservation: Reservation | null) => Promise<T>,
): Promise<T | Refusal> {
  const first = await writeUnit(needs, occasion, (unit) => work(unit, null));
  if (!(first instanceof ReservationWanted)) return first;
  const own = await openOwnGateway(needs, occasion, first.payment);
  if (isRefusal(own)) return own;
  const reservation = await reserve(own.gateway, first.payment, own.payerId);
  if (isRefusal(reservation)) return reservation;
  try {
    const done = await writeUnit(needs, occasion, (unit) => work(unit, reservation));
    if (isRefusal(done)) await own.gateway.release(reservation.id);
    return done;
  } catch (error) {
    // A database that fails at the end may have stored it. Then the job takes what is reserved;
    // else the gateway lets it go by itself.
    if (!(error instanceof DependencyError)) await own.gateway.release(reservation.id);
    throw error;
  }
}
