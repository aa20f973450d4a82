import type Stripe from 'stripe';
import { chargeableOf, unitsOfMoney } from './stripe-amounts.js';
import {
  UnsignedSignal,
  type Charge,
  type ChargeOutcome,
  type PaymentGateway,
  type PreparedCharge,
} from './payment-gateway.js';
import type { GatewayAccount } from './gateway-kind.js';
import { failureOf, openClient, refusedBecause } from './stripe-client.js';
import { closePage, lookAtPage, openPage } from './stripe-pages.js';
import { idOf, purposeOf } from './stripe-references.js';
import { listSignals, outcomeOf, signalOf } from './stripe-signals.js';

/** The payment method that a customer has at Stripe as default. */
async function defaultMethodOf(client: Stripe, payerId: string): Promise<string | null> {
  const customer = await client.customers.retrieve(payerId);
  return customer.deleted === true ? null : idOf(customer.invoice_settings.default_payment_method);
}

async function prepare(
  client: Stripe,
  charge: Charge,
  capture: 'automatic' | 'manual' = 'automatic',
): Promise<PreparedCharge> {
  const { amount, currency, payerId, paymentId } = charge;
  const units = unitsOfMoney(chargeableOf(amount, currency), currency);
  if (units === null) return { status: 'failed', reason: 'Stripe has no such amount' };
  try {
    const methodId =
      charge.methodId ?? (payerId === null ? null : await defaultMethodOf(client, payerId));
    if (methodId === null) {
      return { status: 'failed', reason: 'the customer has no payment method at Stripe' };
    }
    const { id } = await client.paymentIntents.create(
      {
        amount: units,
        currency,
        payment_method: methodId,
        ...(payerId === null ? {} : { customer: payerId }),
        // Nobody is there whom Stripe could lead to a page.
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        ...(capture === 'manual' ? { capture_method: capture } : {}),
        ...purposeOf(charge),
      },
      { idempotencyKey: `${paymentId}:prepare` },
    );
    return { status: 'prepared', id };
  } catch (error) {
    return { status: 'failed', reason: refusedBecause(error) };
  }
}

/** Lets nobody carry out a charge that has failed; that it cannot be cancelled changes nothing. */
async function giveUp(client: Stripe, id: string): Promise<void> {
  await client.paymentIntents.cancel(id).catch(() => null);
}

/** Takes money that was set aside. */
async function takeReserved(client: Stripe, charge: Charge, id: string): Promise<ChargeOutcome> {
  const idempotencyKey = `${charge.paymentId}:capture`;
  try {
    return outcomeOf(await client.paymentIntents.capture(id, {}, { idempotencyKey }));
  } catch (error) {
    const reason = refusedBecause(error);
    await giveUp(client, id);
    return { status: 'failed', reason };
  }
}

async function reserve(client: Stripe, charge: Charge): Promise<PreparedCharge> {
  const prepared = await prepare(client, charge, 'manual');
  if (prepared.status === 'failed') return prepared;
  try {
    const { status } = await client.paymentIntents.confirm(
      prepared.id,
      { off_session: true, error_on_requires_action: true },
      { idempotencyKey: `${charge.paymentId}:reserve` },
    );
    if (status === 'requires_capture') return prepared;
    await giveUp(client, prepared.id);
    return { status: 'failed', reason: `the payment is ${status}, and cannot be reserved` };
  } catch (error) {
    await giveUp(client, prepared.id);
    return { status: 'failed', reason: refusedBecause(error) };
  }
}

async function carryOut(client: Stripe, charge: Charge, id: string): Promise<ChargeOutcome> {
  const outcomeBefore = async (): Promise<ChargeOutcome> => {
    const intent = await client.paymentIntents.retrieve(id);
    if (intent.status === 'requires_capture') return takeReserved(client, charge, id);
    return outcomeOf(intent);
  };
  try {
    const intent = await client.paymentIntents.confirm(
      id,
      { off_session: true, error_on_requires_action: true },
      { idempotencyKey: `${charge.paymentId}:carry-out` },
    );
    const outcome = outcomeOf(intent);
    if (outcome.status === 'failed') await giveUp(client, id);
    return outcome;
  } catch (error) {
    // It was reserved, or carried out before and Stripe has forgotten the key of that.
    if (failureOf(error).code === 'payment_intent_unexpected_state') return outcomeBefore();
    const reason = refusedBecause(error);
    await giveUp(client, id);
    return { status: 'failed', reason };
  }
}

/** How a charge stands that was prepared; null as long as it is not carried out. */
async function look(client: Stripe, id: string): Promise<ChargeOutcome | null> {
  const intent = await client.paymentIntents.retrieve(id);
  const isOver = ['processing', 'succeeded', 'canceled', 'requires_payment_method'];
  return isOver.includes(intent.status) ? outcomeOf(intent) : null;
}

/** Asks Stripe for what is there. @throws GatewayUnavailable, and what Stripe refuses. */
async function reading<T>(
  access: GatewayAccount,
  read: (client: Stripe) => Promise<T>,
): Promise<T> {
  const client = await openClient(access);
  try {
    return await read(client);
  } catch (error) {
    throw new Error(refusedBecause(error), { cause: error });
  }
}

/** Payments by Stripe, by PaymentIntents: each of them takes money at most once. */
export function createStripeGateway(access: GatewayAccount): PaymentGateway {
  return {
    prepare: async (charge) => prepare(await openClient(access), charge),
    carryOut: async (charge, id) => carryOut(await openClient(access), charge, id),
    reserve: async (charge) => reserve(await openClient(access), charge),
    release: async (id) => giveUp(await openClient(access), id),
    openPage: async (charge, addresses) => openPage(await openClient(access), charge, addresses),
    closePage: async (id) => closePage(await openClient(access), id),
    look: (id) => reading(access, (client) => look(client, id)),
    lookAtPage: (id) => reading(access, (client) => lookAtPage(client, id)),
    listSignals: (range) => reading(access, (client) => listSignals(client, range)),
    readSignal: async (body, signature) => {
      const client = await openClient(access);
      const { webhook_secret: secret } = access.secrets;
      try {
        return signalOf(await client.webhooks.constructEventAsync(body, signature, secret));
      } catch (error) {
        if (!(error instanceof Error) || !('type' in error)) throw error;
        if (error.type !== 'StripeSignatureVerificationError') throw error;
        throw new UnsignedSignal();
      }
    },
  };
}
