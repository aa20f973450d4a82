import { describe, expect } from 'vitest';
import { billUntil } from '../../testing/bill-environment.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { test as gatewayTest, type Gateway } from '../../testing/gateway-test.js';
import type { Answer } from '../../testing/money-test.js';
import { setEnvironmentType } from '../../testing/set-test-clock.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';

const DECLINED = { gateway_payment_method_id: 'pm_card_chargeDeclined' };
const FINISHED = 'invoice.payment.retries_finished';

type Renewal = {
  /** Turns the clock, does what is due there, and lets the gateway answer. */
  readonly at: (instant: string) => Promise<void>;
  readonly subscription: Answer;
  /** The invoice of the month that has ended. */
  readonly invoice: () => Promise<Answer>;
  /** Names of the system events, and how invoices stood, from the renewal on. */
  readonly told: () => Promise<readonly string[]>;
};

async function eventsOf(api: BillingUnderTest): Promise<Answer[]> {
  return (await api.call('GET', '/v1/webhooks/events?limit=1000')).body.items;
}

const test = gatewayTest.extend<{ renewal: Renewal }>({
  /** A subscription whose opening invoice was paid by a card that is declined from then on. */
  renewal: async ({ api, database, clickhouse, gateway }, use) => {
    const { environment } = api;
    const world = { database: database.database, clickHouse: clickhouse.client, environment };
    const at = async (instant: string) => {
      await billUntil(world, instant);
      await gateway.take();
    };
    await at('2026-10-01T00:00:00Z');
    const { subscription } = await subscribeMonthly(api, {
      collection_method: 'charge_automatically',
      gateway_payment_method_id: 'pm_card_visa',
    });
    await gateway.take();
    await api.call('PUT', `/v1/subscriptions/${subscription.id}`, { body: DECLINED });
    const before = (await eventsOf(api)).length;
    await use({
      at,
      subscription,
      invoice: async () => {
        const { id } = subscription;
        const { items } = await api.make('/v1/invoices/search', { subscription_id: id });
        return items.find((one: Answer) => one.billing_reason === 'SUBSCRIPTION_CYCLE');
      },
      told: async () =>
        (await eventsOf(api)).slice(before).map(({ event_name: name, payload }) => {
          const { payment_status: status } = payload.invoice ?? payload.payment ?? {};
          return status === undefined ? name : `${name} ${status}`;
        }),
    });
  },
});

/** How many charges the gateway was asked for beside that of the opening invoice. */
const chargesOf = (gateway: Gateway): number => gateway.stripe.intents.size - 1;

describe('a charge that is declined', () => {
  test('is tried again every three days, three times, and then said to be finished once', async ({
    gateway,
    renewal,
  }) => {
    await renewal.at('2026-11-01T00:00:00Z');
    await renewal.at('2026-11-01T02:00:00Z');
    expect(await renewal.invoice()).toMatchObject({
      payment_status: 'FAILED',
      amount_paid: '0.00',
    });
    const charges = [];
    for (const instant of [
      '2026-11-04T01:59:59.999Z',
      '2026-11-04T02:00:00Z',
      '2026-11-07T01:00:00Z',
      '2026-11-07T02:00:00Z',
      '2026-11-10T02:00:00Z',
      '2026-11-13T02:00:00Z',
      '2026-11-20T00:00:00Z',
    ]) {
      await renewal.at(instant);
      charges.push(chargesOf(gateway));
    }
    expect(charges).toEqual([1, 2, 2, 3, 4, 4, 4]);
    const told = await renewal.told();
    expect(told.filter((name) => name.startsWith('payment.failed'))).toHaveLength(4);
    expect(told.filter((name) => name.startsWith(FINISHED))).toEqual([`${FINISHED} FAILED`]);
    expect(await gateway.paymentsOf(await renewal.invoice())).toMatchObject([
      ...Array.from({ length: 4 }, () => ({ payment_status: 'FAILED', amount: '130.00' })),
    ]);
  });

  test('of a subscription that never began is not tried again when that is cancelled', async ({
    api,
    gateway,
    renewal,
  }) => {
    const { plan_id } = renewal.subscription;
    const incomplete = () =>
      api.make('/v1/subscriptions', {
        external_customer_id: 'acme',
        plan_id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        start_date: '2026-10-01T00:00:00.000Z',
        payment_behavior: 'allow_incomplete',
        collection_method: 'charge_automatically',
        ...DECLINED,
      });
    const declined = await incomplete();
    await gateway.take();
    const charged = await incomplete();
    const first = async ({ id }: Answer) => {
      const { items } = await api.make('/v1/invoices/search', { subscription_id: id });
      return items.map((one: Answer) => [one.invoice_status, one.payment_status]);
    };
    expect(await first(declined)).toEqual([['FINALIZED', 'FAILED']]);
    for (const { id } of [declined, charged]) {
      const { status, body } = await api.call('POST', `/v1/subscriptions/${id}/cancel`, {
        body: { cancellation_type: 'immediate' },
      });
      expect([status, body.status]).toEqual([200, 'cancelled']);
    }
    expect(await first(declined)).toEqual([['VOIDED', 'VOIDED']]);
    await gateway.take();
    const before = gateway.stripe.intents.size;
    for (const day of ['04', '07', '10']) await renewal.at(`2026-10-${day}T12:00:00Z`);
    expect(gateway.stripe.intents.size).toBe(before);
    expect(await first(charged)).toEqual([['FINALIZED', 'FAILED']]);
  });

  test('is told as what it is: nothing says that a renewal is paid before it is', async ({
    api,
    renewal,
  }) => {
    await renewal.at('2026-11-01T00:00:00Z');
    await renewal.at('2026-11-01T02:00:00Z');
    expect((await renewal.told()).filter((name) => /invoice|payment/.test(name))).toEqual([
      'invoice.update.finalized PENDING',
      'payment.created PENDING',
      'payment.updated PROCESSING',
      'invoice.update.payment PROCESSING',
      'payment.failed FAILED',
      'invoice.update.payment FAILED',
    ]);
    const { body } = await api.call('GET', `/v1/subscriptions/${renewal.subscription.id}`);
    expect(body.current_period_start).toBe('2026-11-01T00:00:00.000Z');
  });

  test('is paid by the card that the subscription has at the next try', async ({
    api,
    gateway,
    renewal,
  }) => {
    await renewal.at('2026-11-01T02:00:00Z');
    await renewal.at('2026-11-01T02:00:01Z');
    const path = `/v1/subscriptions/${renewal.subscription.id}`;
    await api.call('PUT', path, { body: { gateway_payment_method_id: 'pm_card_visa' } });
    await renewal.at('2026-11-04T02:00:00Z');
    await renewal.at('2026-11-20T00:00:00Z');
    expect(await renewal.invoice()).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '130.00',
      amount_remaining: '0.00',
    });
    expect(chargesOf(gateway)).toBe(2);
    expect(await renewal.told()).not.toContainEqual(expect.stringContaining(FINISHED));
  });

  test('is left alone when its invoice was paid meanwhile, also by a late success', async ({
    gateway,
    renewal,
  }) => {
    await renewal.at('2026-11-01T02:00:00Z');
    const [charge] = [...gateway.stripe.intents.values()].slice(-1);
    if (charge === undefined) throw new Error('nothing was charged');
    Object.assign(charge, { status: 'succeeded', captures: 1 });
    await gateway.signal(gateway.stripe.intentEvent(charge, 'payment_intent.succeeded'));
    await renewal.at('2026-11-20T00:00:00Z');
    expect(chargesOf(gateway)).toBe(1);
    expect(await renewal.invoice()).toMatchObject({ payment_status: 'SUCCEEDED' });
  });

  test('ends the tries at once where the setting has none, or nothing can be charged', async ({
    api,
    gateway,
    renewal,
  }) => {
    await api.call('PUT', '/v1/settings/payment_retries', { body: { value: { max_retries: 0 } } });
    await renewal.at('2026-11-01T02:00:00Z');
    await renewal.at('2026-11-20T00:00:00Z');
    expect(chargesOf(gateway)).toBe(1);
    const finished = async () =>
      (await renewal.told()).filter((name) => name.startsWith(FINISHED)).length;
    expect(await finished()).toBe(1);
    // One more by hand is declined too, and is not told as the end again.
    const { id } = await renewal.invoice();
    await api.call('POST', `/v1/invoices/${id}/payment/attempt`);
    await gateway.take();
    expect([chargesOf(gateway), await finished()]).toEqual([2, 1]);
  });

  test('is tried at its instants by a test clock that goes all the way in one step', async ({
    api,
    database,
    gateway,
  }) => {
    await setEnvironmentType(database.database, api.environment, 'development');
    const clock = await api.make('/v1/test_clocks', { now: '2026-10-01T00:00:00Z' });
    const { subscription } = await subscribeMonthly(api, {
      collection_method: 'charge_automatically',
      ...DECLINED,
      billing_cadence: 'RECURRING',
    });
    await api.call('POST', `/v1/test_clocks/${clock.id}/advance`, {
      body: { now: '2026-10-30T00:00:00Z' },
    });
    await gateway.take();
    const { latest_invoice: opening } = subscription;
    const payments = await gateway.paymentsOf(opening);
    expect(payments.map(({ failed_at: at }) => at).sort()).toEqual([
      '2026-10-01T00:00:00.000Z',
      '2026-10-04T00:00:00.000Z',
      '2026-10-07T00:00:00.000Z',
      '2026-10-10T00:00:00.000Z',
    ]);
    const ended = (await eventsOf(api)).filter(({ event_name: name }) => name === FINISHED);
    expect(ended).toMatchObject([
      { payload: { invoice: { id: opening.id, payment_status: 'FAILED' } } },
    ]);
    expect((await api.call('GET', `/v1/test_clocks/${clock.id}`)).body.status).toBe('ready');
  });
});

describe('money that the gateway gives back', () => {
  const chargeOf = ({ charge }: Gateway) => ({
    id: 'ch_1',
    object: 'charge',
    payment_intent: charge().id,
    currency: 'usd',
    amount: charge().amount,
    amount_captured: charge().amount,
  });
  const refundOf = (gateway: Gateway, amount: number) =>
    gateway.stripe.event('charge.refunded', { ...chargeOf(gateway), amount_refunded: amount });
  const disputeOf = (gateway: Gateway, amount: number) =>
    gateway.stripe.event('charge.dispute.funds_withdrawn', {
      id: 'dp_1',
      object: 'dispute',
      charge: 'ch_1',
      payment_intent: gateway.charge().id,
      amount,
      currency: 'usd',
    });

  test('is taken from the wallet as far as credits for unused time have given it back', async ({
    api,
    bill,
    gateway,
    money,
  }) => {
    await bill('2026-01-01T00:00:00Z');
    await api.make('/v1/customers', { external_id: 'acme' });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', amount: '100' };
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE' });
    const subscription = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      collection_method: 'charge_automatically',
      gateway_payment_method_id: 'pm_card_visa',
    });
    await gateway.take();
    await bill('2026-01-16T00:00:00Z');
    await api.call('POST', `/v1/subscriptions/${subscription.id}/cancel`, {
      body: { cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
    });
    const balance = async () => (await api.make('/v1/wallets/search', {})).items[0].balance;
    expect(await balance()).toBe('51.61');
    const [payment] = await gateway.paymentsOf(subscription.latest_invoice);
    const byHand = await api.call('PUT', `/v1/payments/${payment.id}`, {
      body: { payment_status: 'REFUNDED' },
    });
    expect([byHand.status, byHand.body.details]).toEqual([
      400,
      { refunded_amount: expect.stringMatching(/at most 48\.39.*unused time.*51\.61/) },
    ]);
    await gateway.signal(refundOf(gateway, 10_000));
    expect(await money.read(subscription.latest_invoice.id)).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      refunded_amount: '48.39',
    });
    expect(await balance()).toBe('0');
    expect(await gateway.paymentsOf(subscription.latest_invoice)).toMatchObject([
      { payment_status: 'REFUNDED', refunded_amount: '100.00' },
    ]);
    const line = subscription.latest_invoice.line_items?.[0] ?? {
      id: (await money.read(subscription.latest_invoice.id)).line_items[0].id,
    };
    const note = await api.call('POST', '/v1/creditnotes', {
      body: {
        invoice_id: subscription.latest_invoice.id,
        line_items: [{ invoice_line_item_id: line.id, amount: '0.01' }],
      },
    });
    expect(note.status).toBe(400);
  });

  test('adds what banks have withdrawn to what was refunded: 30 and 20 are 50', async ({
    due,
    gateway,
    money,
  }) => {
    await gateway.pay(due);
    const refunded = async () => (await money.read(due.id)).refunded_amount;
    await gateway.signal(disputeOf(gateway, 3_000));
    expect(await refunded()).toBe('30.00');
    await gateway.signal(refundOf(gateway, 2_000));
    await gateway.signal(refundOf(gateway, 1_000));
    expect(await refunded()).toBe('50.00');
    await gateway.signal(refundOf(gateway, 4_000));
    expect(await refunded()).toBe('70.00');
  });

  test('takes the credits that it had bought, also where they were used', async ({
    api,
    gateway,
    money,
  }) => {
    const { id } = await api.make('/v1/customers', { external_id: 'acme' });
    const wallet = await api.make('/v1/wallets', { customer_id: id, currency: 'usd' });
    const path = `/v1/wallets/${wallet.id}`;
    const topUp = (body: object) => api.call('POST', `${path}/top-up`, { body });
    const sold = (
      await topUp({
        credits_to_add: '1000',
        transaction_reason: 'PURCHASED_CREDIT_INVOICED',
        bonus_credits_to_add: '100',
      })
    ).body;
    await topUp({ credits_to_add: '5', transaction_reason: 'FREE_CREDIT_GRANT' });
    await gateway.pay(await money.read(sold.invoice_id));
    const credits = async () => (await api.call('GET', path)).body.credit_balance;
    expect(await credits()).toBe('1105');
    await gateway.signal(refundOf(gateway, 10_000));
    expect(await credits()).toBe('995');
    const used = { credits: '800', idempotency_key: 'used' };
    await api.call('POST', `${path}/debit`, { body: used });
    await gateway.signal(disputeOf(gateway, 90_000));
    expect(await credits()).toBe('-795');
    expect(await money.read(sold.invoice_id)).toMatchObject({ payment_status: 'REFUNDED' });
    await money.pay(sold.invoice_id, { amount: '900' });
    expect(await credits()).toBe('195');
  });
});
