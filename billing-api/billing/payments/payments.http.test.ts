import { describe, expect } from 'vitest';
import { expectRefused, test, type Answer } from '../../testing/money-test.js';

const paymentOf = (id: string, differing: object = {}) => ({
  ...{ destination_type: 'INVOICE', destination_id: id, payment_method_type: 'OFFLINE' },
  ...{ amount: '100.00', currency: 'usd', ...differing },
});

describe('PUT /invoices/{id}/payment', () => {
  test('adds amounts: 100 of 122 leaves 22, then 22 pays it', async ({ due, money }) => {
    expect(await money.pay(due.id, { amount: '100' })).toMatchObject({
      ...{ payment_status: 'PENDING', amount_paid: '100.00', amount_remaining: '22.00' },
      paid_at: null,
    });
    const paid = await money.pay(due.id, { amount: '22', payment_status: 'SUCCEEDED' });
    expect(paid).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0.00' });
    expect(paid.paid_at).not.toBeNull();
  });

  test('says how much was paid too much: 30 instead of 22 is 8', async ({ due, money }) => {
    await money.pay(due.id, { amount: '100' });
    expect(await money.pay(due.id, { amount: '30' })).toMatchObject({
      ...{ payment_status: 'OVERPAID', overpaid_amount: '8.00', amount_remaining: '0.00' },
    });
  });

  test('with SUCCEEDED alone records what is left, as a payment', async ({ api, due, money }) => {
    await money.pay(due.id, { amount: '100' });
    expect(await money.pay(due.id, { payment_status: 'SUCCEEDED' })).toMatchObject({
      ...{ payment_status: 'SUCCEEDED', amount_paid: '122.00' },
    });
    const { body } = await api.call('GET', `/v1/payments?destination_id=${due.id}`);
    expect(body.items.map(({ amount }: Answer) => amount)).toEqual(['22.00', '100.00']);
  });

  test('with FAILED changes the status alone, and never undoes a success', async ({
    api,
    due,
    money,
  }) => {
    expect(await money.pay(due.id, { payment_status: 'FAILED' })).toMatchObject({
      ...{ payment_status: 'FAILED', amount_remaining: '122.00' },
    });
    await money.pay(due.id, { payment_status: 'SUCCEEDED' });
    const late = await api.call('PUT', `/v1/invoices/${due.id}/payment`, {
      body: { payment_status: 'FAILED' },
    });
    expect(late.status).toBe(400);
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'SUCCEEDED' });
  });

  test('refuses what does not fit, naming the member, and records nothing', async ({
    api,
    due,
    money,
  }) => {
    const path = `/v1/invoices/${due.id}/payment`;
    await expectRefused(
      (body) => api.call('PUT', path, { body }),
      [
        [{}, /amount/],
        [{ amount: '0' }, /amount/],
        [{ amount: '1.001' }, /amount/],
        [{ amount: '5', payment_status: 'SUCCEEDED' }, /payment_status/],
        [{ payment_status: 'OVERPAID' }, /payment_status/],
      ],
    );
    expect(await money.read(due.id)).toMatchObject({ amount_paid: '0.00' });
  });
});

describe('payments', () => {
  test('count on their invoice once when they succeed', async ({ api, due, money }) => {
    const payment = await api.make('/v1/payments', paymentOf(due.id));
    expect(payment).toMatchObject({ payment_status: 'PENDING', refunded_amount: '0.00' });
    const path = `/v1/payments/${payment.id}`;
    for (let times = 0; times < 3; times += 1) {
      const { body } = await api.call('PUT', path, { body: { payment_status: 'SUCCEEDED' } });
      expect(body).toMatchObject({ payment_status: 'SUCCEEDED' });
    }
    expect(await money.read(due.id)).toMatchObject({ amount_paid: '100.00' });
    const late = await api.call('PUT', path, { body: { payment_status: 'FAILED' } });
    expect(late.body.message).toMatch(/is SUCCEEDED/);
  });

  test('that are told of at once by two count once', async ({ api, due, money }) => {
    const payment = await api.make('/v1/payments', paymentOf(due.id));
    const told = { body: { payment_status: 'SUCCEEDED' } };
    await Promise.all(
      Array.from({ length: 8 }, () => api.call('PUT', `/v1/payments/${payment.id}`, told)),
    );
    expect(await money.read(due.id)).toMatchObject({ amount_paid: '100.00' });
  });

  test('with the same key are the same payment, also at once', async ({ api, due, money }) => {
    const body = paymentOf(due.id, { idempotency_key: 'order-1', process_payment: true });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.call('POST', '/v1/payments', { body })),
    );
    expect(new Set(answers.map(({ body: { id } }) => id)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(await money.read(due.id)).toMatchObject({ amount_paid: '100.00' });
  });

  test('without a key are one as long as nothing differs and none failed', async ({
    api,
    due,
    money,
  }) => {
    const first = await api.make('/v1/payments', paymentOf(due.id));
    expect((await api.make('/v1/payments', paymentOf(due.id))).id).toBe(first.id);
    const other = await api.make('/v1/payments', paymentOf(due.id, { amount: '99.00' }));
    expect(other.id).not.toBe(first.id);
    await api.call('PUT', `/v1/payments/${first.id}`, { body: { payment_status: 'FAILED' } });
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'FAILED' });
    expect((await api.make('/v1/payments', paymentOf(due.id))).id).not.toBe(first.id);
  });

  test('are given back in part and then wholly, and never more than was paid', async ({
    api,
    due,
    money,
  }) => {
    const body = paymentOf(due.id, { amount: '122.00', process_payment: true });
    const payment = await api.make('/v1/payments', body);
    const path = `/v1/payments/${payment.id}`;
    const change = (members: object) => api.call('PUT', path, { body: members });
    await change({ payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '50' });
    expect(await money.read(due.id)).toMatchObject({
      ...{ payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '50.00' },
    });
    const beyond = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '122.01' };
    expect((await change(beyond)).status).toBe(400);
    expect((await change({ payment_status: 'REFUNDED' })).body).toMatchObject({
      ...{ payment_status: 'REFUNDED', refunded_amount: '122.00' },
    });
    expect(await money.read(due.id)).toMatchObject({
      ...{ payment_status: 'REFUNDED', refunded_amount: '122.00' },
    });
  });

  test('that are voided take their amount off the invoice again', async ({ api, due, money }) => {
    const body = paymentOf(due.id, { process_payment: true });
    const payment = await api.make('/v1/payments', body);
    const path = `/v1/payments/${payment.id}`;
    await api.call('PUT', path, { body: { payment_status: 'VOIDED' } });
    expect(await money.read(due.id)).toMatchObject({
      ...{ amount_paid: '0.00', amount_remaining: '122.00', payment_status: 'PENDING' },
    });
  });

  test('need the members of their method, an open invoice and its currency', async ({
    api,
    due,
    money,
  }) => {
    await expectRefused(
      (body) => api.call('POST', '/v1/payments', { body }),
      [
        [paymentOf(due.id, { payment_method_id: 'pm_1' }), /payment_method_id/],
        [paymentOf(due.id, { payment_method_type: 'ACH' }), /payment_method_id/],
        [paymentOf(due.id, { payment_method_type: 'PAYMENT_LINK' }), /payment_gateway/],
        [paymentOf(due.id, { currency: 'eur' }), /currency/],
        [paymentOf(due.id, { amount: '0' }), /amount/],
      ],
    );
    const card = paymentOf(due.id, { payment_method_type: 'CARD', process_payment: true });
    expect((await api.call('POST', '/v1/payments', { body: card })).body.message).toMatch(
      /no gateway/,
    );
    await money.pay(due.id, { payment_status: 'SUCCEEDED' });
    const late = await api.call('POST', '/v1/payments', { body: paymentOf(due.id) });
    expect(late.body.message).toMatch(/nothing is left to pay/);
  });

  test('with which nothing has happened can be removed', async ({ api, due, money }) => {
    const card = paymentOf(due.id, { payment_method_type: 'CARD' });
    const payment = await api.make('/v1/payments', card);
    expect((await api.call('DELETE', `/v1/payments/${payment.id}`)).status).toBe(200);
    const paid = await api.make('/v1/payments', paymentOf(due.id, { process_payment: true }));
    const refused = await api.call('DELETE', `/v1/payments/${paid.id}`);
    expect(refused.body.message).toMatch(/is SUCCEEDED/);
    expect(await money.read(due.id)).toMatchObject({ amount_paid: '100.00' });
  });
});

describe('voiding a paid invoice', () => {
  test('gives what was paid to a wallet, once', async ({ api, due, money }) => {
    await money.pay(due.id, { amount: '100' });
    const voids = await Promise.all(
      [1, 2, 3].map(() => api.call('POST', `/v1/invoices/${due.id}/void`, { body: {} })),
    );
    expect(voids.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect(await money.read(due.id)).toMatchObject({
      ...{ invoice_status: 'VOIDED', payment_status: 'REFUNDED' },
    });
    const wallets = await api.make('/v1/wallets/search', { customer_ids: [due.customer_id] });
    expect(wallets.items).toMatchObject([{ balance: '100', wallet_type: 'PRE_PAID' }]);
  });
});
