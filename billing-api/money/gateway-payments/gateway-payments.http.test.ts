import { describe, expect } from 'vitest';
import { CARD, cardOf, KEY, test } from '../../testing/gateway-test.js';
import type { StripeSimulator } from '../../testing/stripe-simulator.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';
import { invoiceOf, makeWallet, topUp, FREE } from '../../testing/wallet-calls.js';
import { expectBalancedBooks } from '../../testing/check-books.js';

/** The client asks again once by itself when a connection ends without an answer. */
const LOST = 2;

describe('connections to Stripe', () => {
  test('need its two secrets, which are sealed, and there is one of an environment', async ({
    api,
    gateway,
  }) => {
    const answers = [gateway.connection, (await api.call('GET', '/v1/connections')).body];
    expect(JSON.stringify(answers)).not.toContain(KEY);
    const create = (body: object) => api.call('POST', '/v1/connections', { body });
    const named = { name: 'Cards', provider_type: 'stripe' };
    const secrets = { secret_key: KEY, webhook_secret: 'whsec_2' };
    expect((await create({ ...named, secrets })).status).toBe(409);
    for (const [body, member] of [
      [{ ...named, secrets: { secret_key: KEY } }, 'secrets.webhook_secret'],
      [{ ...named, secrets: { ...secrets, session_token: 'x' } }, 'secrets.session_token'],
      [{ name: 'Lake', provider_type: 's3', secrets }, 'secrets.access_key_id'],
      [{ ...named, secrets, endpoint_url: 'no address' }, 'endpoint_url'],
    ] as const) {
      const refused = await create(body);
      expect([refused.status, Object.keys(refused.body.details)]).toEqual([
        400,
        expect.arrayContaining([member]),
      ]);
    }
    const path = `/v1/connections/${gateway.connection.id}`;
    const changed = await api.call('PUT', path, { body: { secrets: { access_key_id: 'x' } } });
    expect(changed.status).toBe(400);
    expect((await api.call('DELETE', path)).status).toBe(200);
    expect((await create({ ...named, secrets })).status).toBe(201);
  });
});

describe('card payments', () => {
  test('are taken by the gateway, and count once', async ({ api, due, gateway, money }) => {
    const payment = await api.make('/v1/payments', cardOf(due));
    expect(payment).toMatchObject({ payment_status: 'PROCESSING', gateway_payment_id: null });
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'PROCESSING' });
    await gateway.take();
    await gateway.take();
    expect(gateway.charge()).toMatchObject({
      amount: 12200,
      currency: 'usd',
      paymentMethod: 'pm_card_visa',
      captures: 1,
      metadata: { payment_id: payment.id, invoice_id: due.id },
    });
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '122.00',
      amount_remaining: '0.00',
    });
    const [paid] = await gateway.paymentsOf(due);
    expect(paid).toMatchObject({ payment_status: 'SUCCEEDED', gateway_payment_id: 'pi_1' });
    const again = await api.call('POST', `/v1/payments/${payment.id}/process`);
    expect(again.status).toBe(400);
  });

  test('of an invoice of 251 lines are one charge of its total, and no line is lost (INV-12)', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    const lines = Array.from({ length: 251 }, (_, n) => ({
      display_name: `Line ${n} end`,
      amount: `${n % 7}.0${n % 10}`,
    }));
    // 36 runs of 0 to 6 less the last one of them, and 25 runs of 0.00 to 0.09 with one of 0.00.
    const subtotal = '761.25';
    const invoice = await api.make('/v1/invoices', {
      customer_id: due.customer_id,
      currency: 'usd',
      line_items: lines,
      subtotal,
      total: subtotal,
      amount_due: subtotal,
    });
    await api.make('/v1/payments', cardOf(invoice));
    await gateway.take();
    expect(gateway.charge()).toMatchObject({ amount: 76125, captures: 1 });
    const paid = await money.read(invoice.id);
    expect(paid).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0.00' });
    expect(paid.line_items).toHaveLength(251);
    const csv = await api.call('GET', `/v1/invoices/${invoice.id}/lines.csv`);
    for (const { display_name: name } of lines) expect(csv.body).toContain(name);
  });

  test('are taken once when answers are lost, with one key however often they are tried', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    const payment = await api.make('/v1/payments', cardOf(due));
    const { stripe } = gateway;
    const losing = async (faults: Partial<StripeSimulator>) => {
      Object.assign(stripe, faults);
      await expect(gateway.tryOnce(payment)).rejects.toThrow(/Stripe did not answer/);
      expect(await money.read(due.id)).toMatchObject({ payment_status: 'PROCESSING' });
    };
    await losing({ loseNext: LOST });
    await losing({ failNext: 1 });
    await losing({ loseNext: LOST, losePath: '/confirm' });
    expect(gateway.charge().captures).toBe(1);
    await losing({ failNext: 1 });
    await gateway.tryOnce(payment);
    expect(gateway.charge().captures).toBe(1);
    expect(new Set(stripe.keys)).toEqual(
      new Set([`${payment.id}:prepare`, `${payment.id}:carry-out`]),
    );
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'SUCCEEDED' });
    await gateway.tryOnce(payment);
    expect(gateway.charge().captures).toBe(1);
  });

  test('are taken once also when the gateway has forgotten the key', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    const payment = await api.make('/v1/payments', cardOf(due));
    const { stripe } = gateway;
    stripe.loseNext = LOST;
    await expect(gateway.tryOnce(payment)).rejects.toThrow();
    // Carried out by a process that could not note it, a day ago.
    const intent = gateway.carryOut();
    await gateway.tryOnce(payment);
    expect(intent.captures).toBe(1);
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'SUCCEEDED' });
  });

  test('that are declined say why, and another attempt may succeed', async ({
    due,
    gateway,
    money,
  }) => {
    const declined = { payment_method_id: 'pm_card_chargeDeclined' };
    await gateway.pay(due, declined);
    const [failed] = await gateway.paymentsOf(due);
    expect(failed).toMatchObject({
      payment_status: 'FAILED',
      error_message: 'Your card was declined.',
      attempts: [{ payment_status: 'FAILED', error_message: 'Your card was declined.' }],
    });
    expect(gateway.charge().status).toBe('canceled');
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'FAILED',
      amount_paid: '0.00',
    });
    const [older] = gateway.stripe.intents.values();
    await gateway.pay(due);
    // What became of the older attempt is told a day later (PAY-1).
    for (const what of ['payment_failed', 'canceled']) {
      if (older === undefined) throw new Error('nothing was declined');
      await gateway.signal(gateway.stripe.intentEvent(older, `payment_intent.${what}`));
    }
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '122.00',
    });
  });

  test('are one at a time, and keep their invoice from being voided', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    await api.make('/v1/payments', cardOf(due));
    const second = await api.call('POST', '/v1/payments', {
      body: cardOf(due, { payment_method_id: 'pm_2' }),
    });
    expect(second.body.message).toMatch(/another payment of the invoice is in process/);
    await money.pay(due.id, { amount: '22' });
    expect((await api.call('POST', `/v1/invoices/${due.id}/void`)).status).toBe(400);
    const removal = await api.call('DELETE', `/v1/connections/${gateway.connection.id}`);
    expect(removal.body.message).toMatch(/payments in process/);
    await gateway.take();
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'OVERPAID',
      overpaid_amount: '22.00',
    });
  });

  test('that arrive after a part was given back count too', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    await api.make('/v1/payments', cardOf(due));
    await money.pay(due.id, { payment_status: 'SUCCEEDED' });
    const line = { invoice_line_item_id: due.line_items[0].id, amount: '50' };
    await api.make('/v1/creditnotes', { invoice_id: due.id, line_items: [line] });
    await gateway.take();
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      amount_paid: '244.00',
      refunded_amount: '50.00',
    });
  });
});

describe('money of a customer for no invoice yet', () => {
  test('is charged by card, becomes credits once, and goes back with them', async ({
    api,
    gateway,
    money,
  }) => {
    const { id } = await api.make('/v1/customers', { external_id: 'acme' });
    const payment = await api.make('/v1/payments', {
      destination_type: 'CUSTOMER',
      destination_id: id,
      amount: '40',
      currency: 'usd',
      ...CARD,
    });
    expect(payment).toMatchObject({ payment_status: 'PROCESSING' });
    await gateway.take();
    expect(gateway.charge().metadata).toEqual({ payment_id: payment.id });
    const succeeded = gateway.stripe.intentEvent(gateway.charge(), 'payment_intent.succeeded');
    await Promise.all([gateway.signal(succeeded), gateway.signal(succeeded)]);
    const balance = async () =>
      (await api.make('/v1/wallets/search', { customer_ids: [id] })).items[0].balance;
    expect(await balance()).toBe('40');
    const refunded = gateway.stripe.event('charge.refunded', {
      id: 'ch_1',
      object: 'charge',
      payment_intent: 'pi_1',
      currency: 'usd',
      amount: 4000,
      amount_captured: 4000,
      amount_refunded: 1500,
    });
    await gateway.signal(refunded);
    expect(await balance()).toBe('25');
    expect(await gateway.paymentsOf({ id })).toMatchObject([
      { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '15.00' },
    ]);
    expect(money).toBeDefined();
  });
});

describe('what a gateway charges by itself', () => {
  const collected = { collection_method: 'charge_automatically' };

  test('is what POST_PAID wallets leave of a finalized invoice', async ({ api, gateway }) => {
    const wallet = await makeWallet(api, { wallet_type: 'POST_PAID' });
    await topUp(api, wallet, { credits_to_add: '10', ...FREE });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', amount: '30' };
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE' });
    const { latest_invoice: opening } = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      ...collected,
      billing_period: 'MONTHLY',
      gateway_payment_method_id: 'pm_of_subscription',
    });
    expect(opening).toMatchObject({ payment_status: 'PROCESSING', amount_paid: '10.00' });
    await gateway.take();
    expect(gateway.charge()).toMatchObject({ amount: 2000, paymentMethod: 'pm_of_subscription' });
    const paid = await api.call('GET', `/v1/invoices/${opening.id}`);
    expect(paid.body).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '30.00' });
  });

  test('is charged to the default method of a customer that it knows', async ({ api, gateway }) => {
    gateway.stripe.defaults.set('cus_1', 'pm_default');
    await api.make('/v1/customers', {
      external_id: 'acme',
      name: 'Acme',
      integration_entity_mapping: [{ provider_type: 'stripe', provider_entity_id: 'cus_1' }],
    });
    const due = await invoiceOf(api, '12.00');
    const tried = await api.call('POST', `/v1/invoices/${due.id}/payment/attempt`);
    expect(tried.body).toMatchObject({ payment_status: 'PROCESSING' });
    await gateway.take();
    expect(gateway.charge()).toMatchObject({ customer: 'cus_1', paymentMethod: 'pm_default' });
  });

  test('decides whether a subscription with allow_incomplete is active', async ({
    api,
    gateway,
  }) => {
    const { subscription } = await subscribeMonthly(api, {
      ...collected,
      payment_behavior: 'allow_incomplete',
      gateway_payment_method_id: 'pm_card_chargeDeclined',
    });
    const path = `/v1/subscriptions/${subscription.id}`;
    const statusAfter = async () => {
      await gateway.take();
      return (await api.call('GET', path)).body.subscription_status;
    };
    expect(await statusAfter()).toBe('incomplete');
    await api.call('PUT', path, { body: { gateway_payment_method_id: 'pm_card_visa' } });
    const { latest_invoice: opening } = subscription;
    await api.call('POST', `/v1/invoices/${opening.id}/payment/attempt`);
    expect(await statusAfter()).toBe('active');
  });

  test('is nothing of customers that it does not know, and of others', async ({ api, gateway }) => {
    const { subscription } = await subscribeMonthly(api, collected);
    expect(subscription.latest_invoice).toMatchObject({ payment_status: 'PENDING' });
    const path = `/v1/invoices/${subscription.latest_invoice.id}/payment/attempt`;
    expect((await api.call('POST', path)).body).toMatchObject({ payment_status: 'PENDING' });
    await gateway.take();
    expect(gateway.stripe.intents.size).toBe(0);
  });
});

describe('signals of a gateway', () => {
  const slow = { payment_method_id: 'pm_slow' };

  test('decide a payment once, however often and in whatever order they come', async ({
    due,
    gateway,
    money,
  }) => {
    await gateway.pay(due, slow);
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'PROCESSING' });
    const intent = gateway.charge();
    intent.status = 'requires_payment_method';
    const failed = gateway.stripe.intentEvent(intent, 'payment_intent.payment_failed');
    gateway.carryOut();
    const succeeded = gateway.stripe.intentEvent(intent, 'payment_intent.succeeded');
    const answers = await Promise.all(Array.from({ length: 5 }, () => gateway.signal(succeeded)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.map(({ body }) => body.effect).sort()).toEqual([
      'applied',
      'repeated',
      'repeated',
      'repeated',
      'repeated',
    ]);
    // The failure was before the success, and comes after it.
    expect((await gateway.signal(failed)).status).toBe(200);
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '122.00',
    });
    expect(await gateway.paymentsOf(due)).toMatchObject([{ payment_status: 'SUCCEEDED' }]);
  });

  test('of a success after a failure count as money that has come', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    await gateway.pay(due, slow);
    const intent = gateway.charge();
    intent.status = 'requires_payment_method';
    await gateway.signal(gateway.stripe.intentEvent(intent, 'payment_intent.payment_failed'));
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'FAILED' });
    const [failed] = await gateway.paymentsOf(due);
    const removal = await api.call('DELETE', `/v1/payments/${failed.id}`);
    expect([removal.status, removal.body.message]).toEqual([
      400,
      expect.stringMatching(/known at the gateway/),
    ]);
    gateway.carryOut();
    await gateway.signal(gateway.stripe.intentEvent(intent, 'payment_intent.succeeded'));
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'SUCCEEDED' });
  });

  test.for([
    [10_000, ['PENDING', '100.00', '22.00', '0.00']],
    [13_000, ['OVERPAID', '130.00', '0.00', '8.00']],
  ] as const)(
    'say what was paid: of 12200 that were asked for %s leave the rest open, or are too much (PAY-4)',
    async ([amount, [status, paid, left, over]], { due, gateway, money }) => {
      await gateway.pay(due, slow);
      const intent = { ...gateway.carryOut(), amount };
      await gateway.signal(gateway.stripe.intentEvent(intent, 'payment_intent.succeeded'));
      expect(await money.read(due.id)).toMatchObject({
        payment_status: status,
        amount_paid: paid,
        amount_remaining: left,
        overpaid_amount: over,
      });
      expect(await gateway.paymentsOf(due)).toMatchObject([{ amount: paid }]);
    },
  );

  test('of refunds made there grow, whatever comes first', async ({ due, gateway, money }) => {
    await gateway.pay(due);
    const refunded = (amount: number) =>
      gateway.stripe.event('charge.refunded', {
        id: 'ch_1',
        object: 'charge',
        payment_intent: 'pi_1',
        currency: 'usd',
        amount: 12200,
        amount_captured: 12200,
        amount_refunded: amount,
      });
    await gateway.signal(refunded(7200));
    await gateway.signal(refunded(5000));
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      refunded_amount: '72.00',
    });
    await gateway.signal(refunded(12200));
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'REFUNDED',
      refunded_amount: '122.00',
    });
  });

  test('of a chargeback count once as money that went back, after which nothing is left (PAY-10)', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    await gateway.pay(due, slow);
    const intent = gateway.carryOut();
    const withdrawn = gateway.stripe.event('charge.dispute.funds_withdrawn', {
      id: 'dp_1',
      object: 'dispute',
      charge: 'ch_1',
      payment_intent: 'pi_1',
      amount: 12200,
      currency: 'usd',
    });
    // Told before the success: nothing is noted, and Stripe sends it again.
    expect((await gateway.signal(withdrawn)).status).toBe(400);
    await gateway.signal(gateway.stripe.intentEvent(intent, 'payment_intent.succeeded'));
    expect((await gateway.signal(withdrawn)).body).toEqual({ effect: 'applied' });
    expect((await gateway.signal(withdrawn)).body).toEqual({ effect: 'repeated' });
    const back = { payment_status: 'REFUNDED', refunded_amount: '122.00' };
    expect(await money.read(due.id)).toMatchObject(back);
    const [payment] = await gateway.paymentsOf(due);
    const path = `/v1/payments/${payment?.id}`;
    const body = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '1' };
    expect((await api.call('PUT', path, { body })).status).toBe(400);
    expect(await money.read(due.id)).toMatchObject(back);
    await expectBalancedBooks(api);
  });

  test('count whatever became of the invoice: money for a voided one is of the customer', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    await api.make('/v1/payments', cardOf(due, slow));
    await gateway.take();
    const intent = gateway.charge();
    intent.status = 'requires_payment_method';
    await gateway.signal(gateway.stripe.intentEvent(intent, 'payment_intent.payment_failed'));
    await api.call('POST', `/v1/invoices/${due.id}/void`, { body: {} });
    Object.assign(intent, { status: 'succeeded', captures: 1 });
    const succeeded = gateway.stripe.intentEvent(intent, 'payment_intent.succeeded');
    expect((await gateway.signal(succeeded)).body).toEqual({ effect: 'applied' });
    const { customer_id: id } = due;
    expect(await gateway.paymentsOf({ id })).toMatchObject([
      { destination_type: 'CUSTOMER', payment_status: 'SUCCEEDED', amount: '122.00' },
    ]);
    const { items } = await api.make('/v1/wallets/search', { customer_ids: [id] });
    expect(items).toMatchObject([{ balance: '122' }]);
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'VOIDED',
      amount_paid: '0.00',
    });
  });

  test.for([
    ['credit notes gave a part of it back', '50', '-50'],
    ['the invoice was voided', null, '0'],
  ] as const)(
    'of a refund of everything take from the wallet what was given back twice: %s',
    async ([, noted, left], { api, due, gateway, money }) => {
      await api.make('/v1/payments', cardOf(due));
      await gateway.take();
      const line = { invoice_line_item_id: due.line_items[0].id, amount: noted };
      if (noted === null) await api.call('POST', `/v1/invoices/${due.id}/void`, { body: {} });
      else await api.make('/v1/creditnotes', { invoice_id: due.id, line_items: [line] });
      const { items: before } = await api.make('/v1/wallets/search', {});
      expect(before).toMatchObject([{ balance: noted ?? '122' }]);
      if (noted !== null) {
        const body = { credits: noted, idempotency_key: 'spent' };
        await api.call('POST', `/v1/wallets/${before[0].id}/debit`, { body });
      }
      const refunded = gateway.stripe.event('charge.refunded', {
        id: 'ch_1',
        object: 'charge',
        payment_intent: 'pi_1',
        currency: 'usd',
        amount: 12200,
        amount_captured: 12200,
        amount_refunded: 12200,
      });
      expect((await gateway.signal(refunded)).body).toEqual({ effect: 'applied' });
      const { items } = await api.make('/v1/wallets/search', {});
      expect(items).toMatchObject([{ balance: left }]);
      expect(await gateway.paymentsOf(due)).toMatchObject([{ payment_status: 'REFUNDED' }]);
      expect(await money.read(due.id)).toMatchObject({ payment_status: 'REFUNDED' });
    },
  );

  test('without a right signature are refused, and write nothing', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    await gateway.pay(due, slow);
    const intent = gateway.carryOut();
    const { body, signature } = gateway.stripe.intentEvent(intent, 'payment_intent.succeeded');
    const forged = [
      { body: body.replace('12200', '99900'), signature },
      { body: `${body} `, signature },
      { body, signature: '' },
      { body, signature: signature.replace(/.$/, 'x') },
      { body, signature: signature.replace(/^t=\d+/, 't=1000000000') },
    ];
    for (const one of forged) {
      const refused = await gateway.signal(one);
      expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied']);
    }
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'PROCESSING' });
    const path = '/v1/connections/conn_unknown/signals';
    const headers = { 'stripe-signature': signature };
    expect((await api.call('POST', path, { raw: body, headers })).status).toBe(404);
    expect((await gateway.signal({ body, signature })).body).toEqual({ effect: 'applied' });
  });

  test('of what is not ours are taken, and change nothing', async ({ gateway }) => {
    const other = gateway.stripe.event('payment_intent.succeeded', {
      id: 'pi_other',
      object: 'payment_intent',
      status: 'succeeded',
      currency: 'usd',
      amount_received: 500,
    });
    expect((await gateway.signal(other)).body).toEqual({ effect: 'ignored' });
    const unknown = gateway.stripe.event('invoice.paid', { id: 'in_1', object: 'invoice' });
    expect((await gateway.signal(unknown)).body).toEqual({ effect: 'ignored' });
  });
});
