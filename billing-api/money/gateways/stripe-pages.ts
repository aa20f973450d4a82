import type Stripe from 'stripe';
import { chargeableOf, moneyOfUnits, unitsOfMoney } from './stripe-amounts.js';
import {
  GatewayUnavailable,
  type Charge,
  type ChargeOutcome,
  type OpenedPage,
  type PageAddresses,
} from './payment-gateway.js';
import { refusedBecause } from './stripe-client.js';
import { idOf, purposeOf } from './stripe-references.js';

/** Why money of an account that was on its way is not there. */
export const ARRIVED_NOT = 'the payment by the page did not arrive';

/** What a Checkout Session says of itself; one that has ended without a payment has failed. */
export function outcomeOfPage(session: Stripe.Checkout.Session): ChargeOutcome {
  const { status, payment_status: paid, amount_total: units, currency } = session;
  if (status !== 'complete') {
    return { status: 'failed', reason: 'the page was closed before anything was paid' };
  }
  // Money of an account is on its way for days after the page is done.
  if (paid === 'unpaid' || units === null || currency === null) return { status: 'processing' };
  const chargeId = idOf(session.payment_intent);
  return {
    status: 'succeeded',
    received: moneyOfUnits(units, currency),
    ...(chargeId === null ? {} : { chargeId }),
  };
}

/** Opens a page of Stripe Checkout for the amount of a charge. */
export async function openPage(
  client: Stripe,
  charge: Charge,
  { success, cancel }: PageAddresses,
): Promise<OpenedPage> {
  const { amount, currency, payerId, paymentId, invoiceNumber } = charge;
  const units = unitsOfMoney(chargeableOf(amount, currency), currency);
  if (units === null) return { status: 'failed', reason: 'Stripe has no such amount' };
  const purpose = purposeOf(charge);
  const name = invoiceNumber === null ? 'Payment' : `Invoice ${invoiceNumber}`;
  try {
    const { id, url } = await client.checkout.sessions.create(
      {
        mode: 'payment',
        success_url: success,
        client_reference_id: paymentId,
        ...(cancel === null ? {} : { cancel_url: cancel }),
        ...(payerId === null ? {} : { customer: payerId }),
        line_items: [
          { quantity: 1, price_data: { currency, unit_amount: units, product_data: { name } } },
        ],
        metadata: purpose.metadata,
        payment_intent_data: purpose,
      },
      { idempotencyKey: `${paymentId}:page` },
    );
    if (url === null) return { status: 'failed', reason: 'Stripe has no page for the payment' };
    return { status: 'open', id, url };
  } catch (error) {
    return { status: 'failed', reason: refusedBecause(error) };
  }
}

/** Ends a page of Stripe Checkout, unless a payer was faster. */
export async function closePage(client: Stripe, id: string): Promise<ChargeOutcome> {
  try {
    return outcomeOfPage(await client.checkout.sessions.expire(id));
  } catch (error) {
    // One that is paid, or has ended by itself, cannot be ended: what became of it counts.
    const reason = refusedBecause(error);
    const session = await client.checkout.sessions.retrieve(id);
    if (session.status === 'open') {
      throw new GatewayUnavailable(`Stripe did not close the page: ${reason}`, error);
    }
    return outcomeOfPage(session);
  }
}

/** How a page stands; null as long as nobody has paid by it. */
export async function lookAtPage(client: Stripe, id: string): Promise<ChargeOutcome | null> {
  const session = await client.checkout.sessions.retrieve(id, { expand: ['payment_intent'] });
  if (session.status === 'open') return null;
  const outcome = outcomeOfPage(session);
  const { payment_intent: intent } = session;
  const isIntent = typeof intent === 'object' && intent !== null;
  if (outcome.status !== 'processing' || !isIntent) return outcome;
  const hasFailed = ['canceled', 'requires_payment_method'].includes(intent.status);
  return hasFailed ? { status: 'failed', reason: ARRIVED_NOT } : outcome;
}
