import { describe, expect } from 'vitest';
import { DependencyError } from '../../../runtime/failure.js';
import { createId } from '../../../runtime/ids.js';
import type { Database } from '../../../sql/pool.js';
import { billingNeeds } from '../../testing/bill-environment.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { test as gatewayTest } from '../../testing/gateway-test.js';
import type { Answer } from '../../testing/money-test.js';

import type { CreateSubscriptionBody } from './create-subscription-body.js';
import { openSubscription } from './open-subscription.js';

type World = {
  /** What creates a subscription of 30 usd in advance that must be paid at once. */
  readonly bodyOf: (method: string, more?: object) => object;
};

const test = gatewayTest.extend<{ world: World }>({
  world: async ({ api }, use) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', amount: '30' };
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE' });
    await api.make('/v1/coupons', {
      name: 'Ten',
      coupon_code: 'TEN',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'forever',
    });
    await use({
      bodyOf: (method, more = {}) => ({
        external_customer_id: 'acme',
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        payment_behavior: 'error_if_incomplete',
        gateway_payment_method_id: method,
        ...more,
      }),
    });
  },
});

const START = { start_date: '2026-11-01T00:00:00.000Z' };

/** The only invoice. */
const latestOf = async (api: BillingUnderTest): Promise<string> =>
  (await api.make('/v1/invoices/search', {})).items[0].id;

/** What a creation leaves: records by kind, and names of events. */
async function left(api: BillingUnderTest): Promise<Answer> {
  const count = async (path: string) => (await api.make(path, {})).items.length;
  const payments = (await api.call('GET', '/v1/payments')).body.items;
  const events = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body.items;
  const coupon = (await api.make('/v1/coupons/search', {})).items[0];
  return {
    subscriptions: await count('/v1/subscriptions/search'),
    invoices: await count('/v1/invoices/search'),
    payments: payments.length,
    events: events.length,
    redemptions: coupon.total_redemptions,
  };
}

describe('a subscription with error_if_incomplete whose first payment a gateway takes', () => {
  test('is active once the money is reserved, which is taken once', async ({
    api,
    gateway,
    money,
    world,
  }) => {
    const made = await api.make('/v1/subscriptions', world.bodyOf('pm_card_visa'));
    expect(made).toMatchObject({ subscription_status: 'active' });
    expect(gateway.charge()).toMatchObject({
      amount: 3000,
      status: 'requires_capture',
      captures: 0,
    });
    const { latest_invoice: opening } = made;
    expect(await money.read(opening.id)).toMatchObject({ payment_status: 'PROCESSING' });
    await gateway.take();
    await gateway.take();
    expect(gateway.charge()).toMatchObject({ status: 'succeeded', captures: 1 });
    expect(await money.read(opening.id)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '30.00',
    });
  });

  test('is taken once also when the answer to that is lost', async ({ api, gateway, world }) => {
    const { latest_invoice: opening } = await api.make(
      '/v1/subscriptions',
      world.bodyOf('pm_card_visa'),
    );
    const [payment] = await gateway.paymentsOf(opening);
    Object.assign(gateway.stripe, { loseNext: 2, losePath: '/capture' });
    await expect(gateway.tryOnce(payment)).rejects.toThrow(/Stripe did not answer/);
    await gateway.tryOnce(payment);
    expect(gateway.charge().captures).toBe(1);
    expect(await gateway.paymentsOf(opening)).toMatchObject([{ payment_status: 'SUCCEEDED' }]);
  });

  test('is kept with its reservation when the answer of the database is lost', async ({
    api,
    clickhouse,
    database,
    gateway,
    money,
    world,
  }) => {
    let units = 0;
    const asEnvironment: Database['asEnvironment'] = async (of, work) => {
      const result = await database.database.asEnvironment(of, work);
      units += 1;
      const isRetryable = true;
      throw new DependencyError('lost', { dependency: 'postgres', isRetryable, cause: result });
    };
    const losing = new Proxy(database.database, {
      get: (target, key) => {
        const member: unknown = key === 'asEnvironment' ? asEnvironment : Reflect.get(target, key);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
    const { environment } = api;
    const needs = billingNeeds({ database: losing, clickHouse: clickhouse.client, environment });
    const occasion = { environment, actor: { kind: 'operator', name: 'test' } } as const;
    const body = world.bodyOf('pm_card_visa') as CreateSubscriptionBody;
    await expect(openSubscription({ ...needs, createId }, occasion, body)).rejects.toThrow('lost');
    expect(units).toBe(1);
    expect(gateway.charge()).toMatchObject({ status: 'requires_capture' });
    await gateway.take();
    const { items } = await api.make('/v1/subscriptions/search', {});
    expect(items).toMatchObject([{ subscription_status: 'active' }]);
    expect(await money.read(await latestOf(api))).toMatchObject({
      payment_status: 'SUCCEEDED',
    });
  });

  test('is refused with the reason of a card that is declined, and nothing is left', async ({
    api,
    gateway,
    world,
  }) => {
    const before = await left(api);
    const refused = await api.call('POST', '/v1/subscriptions', {
      body: world.bodyOf('pm_card_chargeDeclined', { coupons: ['TEN'] }),
    });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect(refused.body.message).toMatch(/did not succeed.*Your card was declined/);
    expect(gateway.charge()).toMatchObject({ status: 'canceled', captures: 0 });
    expect(await left(api)).toEqual(before);
    const made = await api.make(
      '/v1/subscriptions',
      world.bodyOf('pm_card_visa', { coupons: ['TEN'] }),
    );
    expect(made.latest_invoice.invoice_number).toMatch(/-00001$/);
    expect(await left(api)).toMatchObject({ subscriptions: 1, invoices: 1, redemptions: 1 });
  });

  test('is answered with 503 while the gateway cannot be reached, and can be sent again', async ({
    api,
    gateway,
    world,
  }) => {
    const before = await left(api);
    const sent = {
      body: world.bodyOf('pm_card_visa'),
      headers: { 'idempotency-key': 'first' },
    };
    gateway.stripe.failNext = 1;
    const unavailable = await api.call('POST', '/v1/subscriptions', sent);
    expect([unavailable.status, unavailable.body.code]).toEqual([503, 'service_unavailable']);
    expect(await left(api)).toEqual(before);
    const made = await api.call('POST', '/v1/subscriptions', sent);
    const again = await api.call('POST', '/v1/subscriptions', sent);
    expect([made.status, again.body.id]).toEqual([201, made.body.id]);
    await gateway.take();
    const captured = [...gateway.stripe.intents.values()].filter(({ captures }) => captures > 0);
    expect(captured).toHaveLength(1);
  });

  test('pays nothing by a gateway where wallets suffice', async ({ api, gateway, world }) => {
    await api.make('/v1/wallets', {
      external_customer_id: 'acme',
      currency: 'usd',
      wallet_type: 'POST_PAID',
      initial_credits_to_load: '30',
    });
    const made = await api.make('/v1/subscriptions', world.bodyOf('pm_card_chargeDeclined'));
    expect(made).toMatchObject({ subscription_status: 'active' });
    expect(gateway.stripe.intents.size).toBe(0);
  });

  test('that is a draft stays one when its activation is declined', async ({
    api,
    gateway,
    world,
  }) => {
    const { id } = await api.make(
      '/v1/subscriptions',
      world.bodyOf('pm_card_chargeDeclined', { subscription_status: 'draft' }),
    );
    const path = `/v1/subscriptions/${id}`;
    const declined = await api.call('POST', `${path}/activate`, { body: START });
    expect(declined.body.message).toMatch(/Your card was declined/);
    expect((await api.call('GET', path)).body.subscription_status).toBe('draft');
    await api.call('PUT', path, { body: { gateway_payment_method_id: 'pm_card_visa' } });
    const begun = await api.call('POST', `${path}/activate`, { body: START });
    expect(begun.body).toMatchObject({ subscription_status: 'active' });
    await gateway.take();
    const succeeded = [...gateway.stripe.intents.values()].map(({ captures }) => captures);
    expect(succeeded).toEqual([0, 1]);
  });
});
