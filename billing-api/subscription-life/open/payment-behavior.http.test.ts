import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { test, type Answer } from '../../testing/money-test.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';
import { FREE, makeWallet, readWallet, topUp, transactionsOf } from '../../testing/wallet-calls.js';

const INCOMPLETE = { payment_behavior: 'allow_incomplete' };

const statusOf = async (api: BillingUnderTest, { id }: Answer): Promise<string> =>
  (await api.call('GET', `/v1/subscriptions/${id}`)).body.subscription_status;

/** How often the subscription was told to be active. */
async function activations(api: BillingUnderTest, { id }: Answer): Promise<number> {
  const query = 'event_type=subscription.activated&limit=1000';
  const { body } = await api.call('GET', `/v1/webhooks/events?${query}`);
  return body.items.filter(({ entity_id: of }: Answer) => of === id).length;
}

const invoicesOf = async (api: BillingUnderTest, { id }: Answer): Promise<Answer[]> =>
  (await api.make('/v1/invoices/search', { subscription_id: id, limit: 100 })).items;

describe('a subscription with allow_incomplete', () => {
  test('is incomplete until its first invoice is paid, and then active', async ({ api, money }) => {
    const { subscription } = await subscribeMonthly(api, INCOMPLETE);
    expect(subscription).toMatchObject({
      subscription_status: 'incomplete',
      latest_invoice: { payment_status: 'PENDING', amount_due: '30.00' },
    });
    const { id } = subscription.latest_invoice;
    await money.pay(id, { amount: '29.99' });
    await money.pay(id, { payment_status: 'FAILED' });
    expect(await statusOf(api, subscription)).toBe('incomplete');
    expect(await activations(api, subscription)).toBe(0);
    await money.pay(id, { amount: '0.01' });
    expect(await statusOf(api, subscription)).toBe('active');
    expect(await activations(api, subscription)).toBe(1);
  });

  test('is active at once where there is nothing to pay, or a wallet has paid', async ({
    api,
    money: _,
  }) => {
    const plan = await api.make('/v1/plans', { name: 'Later' });
    const price = { entity_id: plan.id, currency: 'usd', amount: '5' };
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ARREAR' });
    await api.make('/v1/customers', { external_id: 'late' });
    const free = await api.make('/v1/subscriptions', {
      external_customer_id: 'late',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...INCOMPLETE,
    });
    expect(free).toMatchObject({ subscription_status: 'active', latest_invoice: null });
    const wallet = await makeWallet(api, {
      external_customer_id: 'late',
      wallet_type: 'POST_PAID',
    });
    await topUp(api, wallet, { credits_to_add: '7', ...FREE });
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE' });
    for (const payment_behavior of ['allow_incomplete', 'error_if_incomplete']) {
      const body = {
        external_customer_id: 'late',
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        payment_behavior,
      };
      const paid = await api.call('POST', '/v1/subscriptions', { body });
      // The wallet pays the first of them, and 2 of the second.
      if (payment_behavior === 'allow_incomplete') {
        expect(paid.body).toMatchObject({
          subscription_status: 'active',
          latest_invoice: { payment_status: 'SUCCEEDED' },
        });
        expect(await activations(api, paid.body)).toBe(1);
      } else expect(paid.status).toBe(400);
    }
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '2' });
  });

  test('is not renewed meanwhile, and catches up when it is paid', async ({ api, bill, money }) => {
    const { subscription } = await subscribeMonthly(api, INCOMPLETE);
    await bill('2026-12-02T00:00:00.000Z');
    expect(await invoicesOf(api, subscription)).toHaveLength(1);
    await money.pay(subscription.latest_invoice.id, { payment_status: 'SUCCEEDED' });
    await bill('2026-12-02T00:10:00.000Z');
    const invoices = await invoicesOf(api, subscription);
    expect(invoices.map((one) => [one.period_start.slice(0, 10), one.subtotal]).sort()).toEqual([
      ['2026-10-01', '130.00'],
      ['2026-10-01', '30.00'],
      ['2026-11-01', '130.00'],
    ]);
    expect(await statusOf(api, subscription)).toBe('active');
  });

  test('gets the credits of its grants when it is active', async ({ api, bill, money }) => {
    const grant = { name: 'Start', credits: '5', cadence: 'ONETIME', scope: 'SUBSCRIPTION' };
    const { subscription } = await subscribeMonthly(api, { ...INCOMPLETE, credit_grants: [grant] });
    const wallet = await makeWallet(api);
    await bill('2026-10-02T00:00:00.000Z');
    expect(await transactionsOf(api, wallet)).toEqual([]);
    await money.pay(subscription.latest_invoice.id, { payment_status: 'SUCCEEDED' });
    await bill('2026-10-02T00:10:00.000Z');
    expect(await transactionsOf(api, wallet)).toMatchObject([
      { transaction_reason: 'SUBSCRIPTION_CREDIT_GRANT', credit_amount: '5' },
    ]);
  });

  test('is incomplete again where its trial ends unpaid', async ({ api, bill, money }) => {
    const { subscription } = await subscribeMonthly(api, { ...INCOMPLETE, trial_period_days: 14 });
    expect(subscription).toMatchObject({ subscription_status: 'trialing' });
    await bill('2026-10-15T00:10:00.000Z');
    expect(await statusOf(api, subscription)).toBe('incomplete');
    expect(await activations(api, subscription)).toBe(0);
    const first = (await invoicesOf(api, subscription)).find(
      ({ billing_reason: reason }: Answer) => reason === 'SUBSCRIPTION_TRIAL_END',
    );
    expect(first).toMatchObject({ payment_status: 'PENDING', total: '30.00' });
    await money.pay(first.id, { payment_status: 'SUCCEEDED' });
    expect(await statusOf(api, subscription)).toBe('active');
    expect(await activations(api, subscription)).toBe(1);
  });

  test('can be cancelled meanwhile, and stays so when it is paid late', async ({ api, money }) => {
    const { subscription } = await subscribeMonthly(api, INCOMPLETE);
    const path = `/v1/subscriptions/${subscription.id}/cancel`;
    const later = await api.call('POST', path, { body: { cancellation_type: 'end_of_period' } });
    expect(later.body.message).toMatch(/incomplete is cancelled only immediately/);
    expect((await api.call('POST', path, { body: {} })).body.status).toBe('cancelled');
    await money.pay(subscription.latest_invoice.id, { payment_status: 'SUCCEEDED' });
    expect(await statusOf(api, subscription)).toBe('cancelled');
  });
});

test('a draft with default_incomplete waits for its first payment when it is activated', async ({
  api,
  money,
}) => {
  const { subscription } = await subscribeMonthly(api, {
    payment_behavior: 'default_incomplete',
    collection_method: 'send_invoice',
    subscription_status: 'draft',
  });
  const path = `/v1/subscriptions/${subscription.id}/activate`;
  const begun = await api.make(path, { start_date: '2026-11-01T00:00:00.000Z' }).catch(() => null);
  const [invoice] = await invoicesOf(api, subscription);
  expect(await statusOf(api, subscription)).toBe('incomplete');
  expect([begun === null, invoice.payment_status]).toEqual([false, 'PENDING']);
  await money.pay(invoice.id, { payment_status: 'SUCCEEDED' });
  expect(await statusOf(api, subscription)).toBe('active');
  expect(await activations(api, subscription)).toBe(1);
});

describe('a subscription with error_if_incomplete', () => {
  test('is refused where its first payment does not succeed, and leaves nothing', async ({
    api,
    money: _,
  }) => {
    const { plan, subscription } = await subscribeMonthly(api);
    const body = {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      payment_behavior: 'error_if_incomplete',
    };
    const refused = await api.call('POST', '/v1/subscriptions', { body });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect(refused.body.message).toMatch(/first payment did not succeed/);
    const found = await api.make('/v1/subscriptions/search', {});
    expect(found.items.map(({ id }: Answer) => id)).toEqual([subscription.id]);
    expect((await api.make('/v1/invoices/search', {})).items).toHaveLength(1);
  });
});

test('payment_behavior goes with the collection_method', async ({ api, money: _ }) => {
  const { plan, subscription } = await subscribeMonthly(api);
  for (const [payment_behavior, collection_method] of [
    ['allow_incomplete', 'send_invoice'],
    ['error_if_incomplete', 'send_invoice'],
    ['default_incomplete', 'charge_automatically'],
  ]) {
    const members = { payment_behavior, collection_method };
    const body = {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...members,
    };
    const refused = await api.call('POST', '/v1/subscriptions', { body });
    expect([members, refused.status]).toEqual([members, 400]);
    expect(refused.body.details).toHaveProperty('payment_behavior');
    const path = `/v1/subscriptions/${subscription.id}`;
    expect((await api.call('PUT', path, { body: members })).status).toBe(400);
  }
});
