import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectRefused, test, type Answer } from '../../testing/money-test.js';

const paymentOf = (id: string, differing: object = {}) => ({
  destination_type: 'INVOICE',
  destination_id: id,
  payment_method_type: 'OFFLINE',
  amount: '100.00',
  currency: 'usd',
  ...differing,
});

describe('PUT /invoices/{id}/payment', () => {
  test('adds amounts: 100 of 122 leaves 22, then 22 pays it', async ({ due, money }) => {
    expect(await money.pay(due.id, { amount: '100' })).toMatchObject({
      payment_status: 'PENDING',
      amount_paid: '100.00',
      amount_remaining: '22.00',
      paid_at: null,
    });
    const paid = await money.pay(due.id, { amount: '22', payment_status: 'SUCCEEDED' });
    expect(paid).toMatchObject({ payment_status: 'SUCCEEDED', amount_remaining: '0.00' });
    expect(paid.paid_at).not.toBeNull();
  });

  test('says how much was paid too much: 30 instead of 22 is 8', async ({ due, money }) => {
    await money.pay(due.id, { amount: '100' });
    expect(await money.pay(due.id, { amount: '30' })).toMatchObject({
      payment_status: 'OVERPAID',
      overpaid_amount: '8.00',
      amount_remaining: '0.00',
    });
  });

  test('with SUCCEEDED alone records what is left, as a payment', async ({ api, due, money }) => {
    await money.pay(due.id, { amount: '100' });
    expect(await money.pay(due.id, { payment_status: 'SUCCEEDED' })).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '122.00',
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
      payment_status: 'FAILED',
      amount_remaining: '122.00',
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

  test('cannot be given another amount, nor be told of without a key (PAY-6)', async ({
    api,
    due,
    money,
  }) => {
    const { id } = await api.make('/v1/payments', paymentOf(due.id));
    const path = `/v1/payments/${id}`;
    const told = { payment_status: 'SUCCEEDED' };
    for (const body of [{ ...told, amount: '122.00' }, { amount: '0.01' }]) {
      const refused = await api.call('PUT', path, { body });
      expect([refused.status, Object.keys(refused.body.details)]).toEqual([400, ['amount']]);
    }
    const open = await api.call('PUT', path, { body: told, headers: { 'x-api-key': '' } });
    expect(open.status).toBe(401);
    const { body } = await api.call('GET', path);
    expect(body).toMatchObject({ payment_status: 'PENDING', amount: '100.00' });
    expect(await money.read(due.id)).toMatchObject({ amount_paid: '0.00' });
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
      payment_status: 'PARTIALLY_REFUNDED',
      refunded_amount: '50.00',
    });
    const beyond = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '122.01' };
    expect((await change(beyond)).status).toBe(400);
    expect((await change({ payment_status: 'REFUNDED' })).body).toMatchObject({
      payment_status: 'REFUNDED',
      refunded_amount: '122.00',
    });
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'REFUNDED',
      refunded_amount: '122.00',
    });
  });

  test('that were too much go back first: of 122 + 30 for 122 the 30 leave it paid', async ({
    api,
    due,
    money,
  }) => {
    for (const amount of ['122', '30']) await money.pay(due.id, { amount });
    const { items } = (await api.call('GET', `/v1/payments?destination_id=${due.id}`)).body;
    expect(items.map((one: Answer) => one.payment_status)).toEqual(['OVERPAID', 'SUCCEEDED']);
    const back = (payment: Answer, body: object) =>
      api.call('PUT', `/v1/payments/${payment.id}`, { body });
    await back(items[0], { payment_status: 'REFUNDED' });
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '122.00',
      overpaid_amount: '0.00',
      refunded_amount: '0.00',
      amount_remaining: '0.00',
    });
    await back(items[1], { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '22' });
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      amount_paid: '122.00',
      refunded_amount: '22.00',
    });
  });

  test('still count on an invoice that was refunded: they pay what is open, then undo the refund', async ({
    api,
    due,
    money,
  }) => {
    const make = async (amount: string) =>
      api.make('/v1/payments', paymentOf(due.id, { amount, process_payment: true }));
    const first = await make('100.00');
    const back = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '20' };
    await api.call('PUT', `/v1/payments/${first.id}`, { body: back });
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      amount_remaining: '22.00',
    });
    const tried = await api.call('POST', `/v1/invoices/${due.id}/payment/attempt`);
    expect([tried.status, tried.body.amount_remaining]).toEqual([200, '22.00']);
    await money.pay(due.id, { amount: '10' });
    const line = { invoice_line_item_id: due.line_items[0].id, amount: '5' };
    const note = { invoice_id: due.id, line_items: [line] };
    expect(await api.make('/v1/creditnotes', note)).toMatchObject({
      credit_note_type: 'ADJUSTMENT',
    });
    expect(await make('7.00')).toMatchObject({ payment_status: 'SUCCEEDED' });
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      amount_due: '117.00',
      amount_paid: '117.00',
      amount_remaining: '0.00',
      refunded_amount: '20.00',
    });
    expect(await api.make('/v1/creditnotes', note)).toMatchObject({ credit_note_type: 'REFUND' });
    // The note gave 5.00 to a wallet, which money that comes in cannot undo; the 20.00 it can.
    expect(await money.pay(due.id, { amount: '21' })).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      amount_paid: '118.00',
      overpaid_amount: '1.00',
      refunded_amount: '5.00',
    });
  });

  test('that come again after a lost dispute was won pay the invoice', async ({
    api,
    due,
    money,
  }) => {
    await money.pay(due.id, { amount: '122' });
    const [payment] = (await api.call('GET', `/v1/payments?destination_id=${due.id}`)).body.items;
    const lost = { body: { payment_status: 'REFUNDED' } };
    await api.call('PUT', `/v1/payments/${payment.id}`, lost);
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'REFUNDED' });
    const won = { amount: '122', payment_status: 'SUCCEEDED' };
    expect(await money.pay(due.id, won)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '122.00',
      overpaid_amount: '0.00',
      refunded_amount: '0.00',
    });
  });

  test('that are voided take their amount off the invoice again', async ({ api, due, money }) => {
    const body = paymentOf(due.id, { process_payment: true });
    const payment = await api.make('/v1/payments', body);
    expect(payment).toMatchObject({ payment_status: 'SUCCEEDED' });
    const path = `/v1/payments/${payment.id}`;
    expect((await api.call('POST', `${path}/process`)).status).toBe(400);
    await api.call('PUT', path, { body: { payment_status: 'VOIDED' } });
    expect(await money.read(due.id)).toMatchObject({
      amount_paid: '0.00',
      amount_remaining: '122.00',
      payment_status: 'PENDING',
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

describe('money of a customer for no invoice yet', () => {
  const moneyOf = (id: string, differing: object = {}) =>
    paymentOf(id, { destination_type: 'CUSTOMER', amount: '150.00', ...differing });
  const walletOf = async (api: BillingUnderTest, id: string): Promise<Answer> => {
    const { items } = await api.make('/v1/wallets/search', { customer_ids: [id] });
    expect(items.length).toBe(1);
    return items[0];
  };

  test('becomes credits once it has arrived, which pay the next invoice', async ({
    api,
    money,
  }) => {
    const { id } = await api.make('/v1/customers', { external_id: 'acme' });
    const payment = await api.make('/v1/payments', moneyOf(id));
    expect(payment).toMatchObject({
      destination_type: 'CUSTOMER',
      destination_id: id,
      customer_id: id,
      payment_status: 'PENDING',
      invoice_number: null,
    });
    expect((await api.make('/v1/wallets/search', { customer_ids: [id] })).items).toEqual([]);
    const path = `/v1/payments/${payment.id}/process`;
    const done = await Promise.all([1, 2, 3].map(() => api.call('POST', path)));
    expect(done.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    const wallet = await walletOf(api, id);
    expect(wallet).toMatchObject({ balance: '150', wallet_type: 'PRE_PAID' });
    const { items } = (await api.call('GET', `/v1/wallets/${wallet.id}/transactions`)).body;
    expect(items).toMatchObject([
      {
        transaction_reason: 'PURCHASED_CREDIT_DIRECT',
        credit_amount: '150',
        reference_type: 'PAYMENT',
        reference_id: payment.id,
      },
    ]);
    const invoice = await api.make('/v1/invoices', {
      customer_id: id,
      currency: 'usd',
      subtotal: '122',
      total: '122',
      amount_due: '122',
      line_items: [{ display_name: 'Work', amount: '122' }],
    });
    expect(await money.read(invoice.id)).toMatchObject({
      total_prepaid_credits_applied: '122.00',
      payment_status: 'SUCCEEDED',
    });
    expect(await walletOf(api, id)).toMatchObject({ balance: '28' });
  });

  test('goes back with its credits, below 0 where they were used', async ({ api, money }) => {
    const { id } = await api.make('/v1/customers', { external_id: 'acme' });
    const make = (differing: object) =>
      api.make('/v1/payments', moneyOf(id, { process_payment: true, ...differing }));
    const change = (payment: Answer, body: object) =>
      api.call('PUT', `/v1/payments/${payment.id}`, { body });
    const payment = await make({});
    const part = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '100' };
    expect((await change(payment, part)).body).toMatchObject({ refunded_amount: '100.00' });
    expect(await walletOf(api, id)).toMatchObject({ balance: '50' });
    await api.make('/v1/invoices', {
      customer_id: id,
      currency: 'usd',
      subtotal: '30',
      total: '30',
      amount_due: '30',
      line_items: [{ display_name: 'Work', amount: '30' }],
    });
    await change(payment, { payment_status: 'REFUNDED' });
    expect(await walletOf(api, id)).toMatchObject({ balance: '-30' });
    const second = await make({ amount: '40.00' });
    expect(await walletOf(api, id)).toMatchObject({ balance: '10' });
    expect((await change(second, { payment_status: 'VOIDED' })).status).toBe(200);
    expect(await walletOf(api, id)).toMatchObject({ balance: '-30' });
    expect(money).toBeDefined();
  });

  test('is repeated by its key alone, and is not of credits or of nobody', async ({
    api,
    money,
  }) => {
    const { id } = await api.make('/v1/customers', { external_id: 'acme' });
    const keyed = moneyOf(id, { process_payment: true, idempotency_key: 'order-1' });
    const [first, again] = [
      await api.make('/v1/payments', keyed),
      await api.make('/v1/payments', keyed),
    ];
    expect(again.id).toBe(first.id);
    expect(await walletOf(api, id)).toMatchObject({ balance: '150' });
    const other = moneyOf(id, { process_payment: true });
    await api.make('/v1/payments', other);
    await api.make('/v1/payments', other);
    expect(await walletOf(api, id)).toMatchObject({ balance: '450' });
    await expectRefused(
      (body) => api.call('POST', '/v1/payments', { body }),
      [[moneyOf(id, { payment_method_type: 'CREDITS' }), /payment_method_type/]],
    );
    const unknown = await api.call('POST', '/v1/payments', { body: moneyOf('cust_unknown') });
    expect(unknown.status).toBe(404);
    expect(money).toBeDefined();
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
      invoice_status: 'VOIDED',
      payment_status: 'REFUNDED',
    });
    const wallets = await api.make('/v1/wallets/search', { customer_ids: [due.customer_id] });
    expect(wallets.items).toMatchObject([{ balance: '100', wallet_type: 'PRE_PAID' }]);
  });
});
