import type Stripe from 'stripe';
import type { InstantMs } from '../../../contract/instant.js';
import { moneyOfUnits } from './stripe-amounts.js';
import type { ChargeOutcome, GatewaySignal, ListedSignal, TimeRange } from './payment-gateway.js';
import { ARRIVED_NOT, outcomeOfPage } from './stripe-pages.js';
import { idOf } from './stripe-references.js';

/** What Stripe tells of charges and pages, as `signalOf` reads it. */
const TYPES = [
  'payment_intent.succeeded',
  'payment_intent.processing',
  'payment_intent.canceled',
  'payment_intent.payment_failed',
  'charge.refunded',
  'charge.dispute.funds_withdrawn',
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
];
/** As many as Stripe answers at once. */
const PAGE_SIZE = 100;

/** What a PaymentIntent says of itself; one that waits for a person does not succeed here. */
export function outcomeOf(intent: Stripe.PaymentIntent): ChargeOutcome {
  switch (intent.status) {
    case 'succeeded':
      return {
        status: 'succeeded',
        received: moneyOfUnits(intent.amount_received, intent.currency),
        chargeId: intent.id,
      };
    case 'processing':
      return { status: 'processing' };
    default: {
      const reason = intent.last_payment_error?.message ?? `the payment is ${intent.status}`;
      return { status: 'failed', reason };
    }
  }
}

/** What an event of Stripe says of a payment page; null when it is about something else. */
function signalOfPage(event: Stripe.Event): GatewaySignal | null {
  const { id, type } = event;
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.expired': {
      const session = event.data.object;
      return { id, type, chargeId: session.id, outcome: outcomeOfPage(session), refunded: null };
    }
    case 'checkout.session.async_payment_failed': {
      const outcome = { status: 'failed', reason: ARRIVED_NOT } as const;
      return { id, type, chargeId: event.data.object.id, outcome, refunded: null };
    }
    default:
      return null;
  }
}

/** Which payment of ours a charge is for, as it was told when that was made. */
function paymentOf(metadata: Stripe.Metadata | null | undefined): Pick<GatewaySignal, 'paymentId'> {
  const paymentId = metadata?.['payment_id'];
  return paymentId === undefined ? {} : { paymentId };
}

/** What an event says of a charge or a page; null when it is about something else. */
export function signalOf(event: Stripe.Event): GatewaySignal | null {
  const { id, type } = event;
  switch (event.type) {
    case 'payment_intent.succeeded':
    case 'payment_intent.processing':
    case 'payment_intent.canceled':
    case 'payment_intent.payment_failed': {
      const intent = event.data.object;
      const told = { id, type, chargeId: intent.id, outcome: outcomeOf(intent), refunded: null };
      return { ...told, ...paymentOf(intent.metadata) };
    }
    case 'charge.refunded': {
      const charge = event.data.object;
      const chargeId = idOf(charge.payment_intent);
      if (chargeId === null) return null;
      const received = moneyOfUnits(charge.amount_captured, charge.currency);
      const refunded = moneyOfUnits(charge.amount_refunded, charge.currency);
      const outcome = { status: 'succeeded', received, chargeId } as const;
      return { id, type, chargeId, outcome, refunded, ...paymentOf(charge.metadata) };
    }
    case 'charge.dispute.funds_withdrawn': {
      const dispute = event.data.object;
      const chargeId = idOf(dispute.payment_intent);
      if (chargeId === null) return null;
      const withdrawn = moneyOfUnits(dispute.amount, dispute.currency);
      return { id, type, chargeId, outcome: { status: 'processing' }, refunded: null, withdrawn };
    }
    default:
      return signalOfPage(event);
  }
}

const secondsOf = (instant: InstantMs): number => Math.floor(instant / 1_000);

/** The signals that Stripe has made in a time, the oldest first, whether they have come or not. */
export async function listSignals(
  client: Stripe,
  { from, until }: TimeRange,
): Promise<readonly ListedSignal[]> {
  const created = { gte: secondsOf(from), lt: secondsOf(until) };
  const found: ListedSignal[] = [];
  const params = { types: TYPES, created, limit: PAGE_SIZE };
  for await (const event of client.events.list(params)) {
    const signal = signalOf(event);
    if (signal !== null) found.push({ ...signal, madeAt: event.created * 1_000 });
  }
  return found.reverse();
}
