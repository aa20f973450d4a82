import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { bodyOfNote, giveInvoice, makeCustomer, noteOn } from '../../testing/given-invoice.js';
import { test, type Answer } from '../../testing/money-test.js';
import { FREE, makeWallet, readWallet, topUp } from '../../testing/wallet-calls.js';

/**
 * Worked cases of other billing systems about payments, refunds and void invoices, by the ids under
 * which they were collected. Where ours differ, docs/domain.md 34.27 and 34.32 say which and why.
 */

/** A payment of an invoice that has arrived. */
async function pay(
  api: BillingUnderTest,
  invoice: Answer,
  { amount, key = amount }: { readonly amount: string; readonly key?: string },
) {
  const made = await api.make('/v1/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    currency: 'usd',
    amount,
    payment_method_type: 'CARD',
    payment_method_id: 'pm_1',
    idempotency_key: key,
  });
  return put(api, made, { payment_status: 'SUCCEEDED' });
}

const put = async (api: BillingUnderTest, { id }: Answer, body: object) =>
  (await api.call('PUT', `/v1/payments/${id}`, { body })).body;
const inPart = (refunded_amount: string) => ({
  payment_status: 'PARTIALLY_REFUNDED',
  refunded_amount,
});
const debit = (api: BillingUnderTest, wallet: Answer, credits: string) =>
  api.call('POST', `/v1/wallets/${wallet.id}/debit`, {
    body: { credits, idempotency_key: credits },
  });

describe('refunds as other systems make them', () => {
  // What the customer owes: the opposite of what is in the wallet.
  test.for([
    ['7 without adjustment: paid out of the credit', '3'],
    ['7 with adjustment: the invoice gives it back, and the credit stays', '10'],
    ['20 without adjustment: more than the credit is owed', '-10'],
  ] as const)(
    'KB-38: a line of 20 replaced by one of 10, then a refund of %s',
    async ([kind, left], { api, money }) => {
      const customerId = await makeCustomer(api);
      const invoice = await giveInvoice(api, ['5', '20'], { customerId });
      const payment = await pay(api, invoice, { amount: '25' });
      expect((await noteOn(api, invoice, { 1: '10' })).status).toBe(201);
      const [wallet] = (await api.make('/v1/wallets/search', {})).items;
      expect(wallet.balance).toBe('10');
      if (kind.includes('with adjustment')) {
        await put(api, payment, inPart('7'));
        expect(await money.read(invoice.id)).toMatchObject({ refunded_amount: '17.00' });
      } else expect((await debit(api, wallet, kind.split(' ')[0] as string)).status).toBe(200);
      expect((await readWallet(api, wallet)).balance).toBe(left);
    },
  );

  test('LG-10: credited up to what is billed, refunded up to what is paid', async ({
    api,
    money,
  }) => {
    const customerId = await makeCustomer(api);
    const invoice = await giveInvoice(api, ['375.70'], { customerId });
    await money.pay(invoice.id, { amount: '12' });
    // 363.70 of the 375.70 are open, and 12.00 were paid.
    expect((await noteOn(api, invoice, { 0: '363.71' })).body.message).toMatch(/at most 363.7 /);
    expect((await noteOn(api, invoice, { 0: '363.70' })).body).toMatchObject({
      credit_note_type: 'ADJUSTMENT',
      total_amount: '363.70',
    });
    expect((await noteOn(api, invoice, { 0: '12.01' })).status).toBe(400);
    expect((await noteOn(api, invoice, { 0: '12.00' })).body).toMatchObject({
      credit_note_type: 'REFUND',
      total_amount: '12.00',
    });
    expect((await noteOn(api, invoice, { 0: '0.01' })).status).toBe(400);
  });

  test('LG-10: a note on an invoice without a payment takes all of it', async ({ api, money }) => {
    const customerId = await makeCustomer(api);
    const invoice = await giveInvoice(api, ['375.70'], { customerId });
    expect((await noteOn(api, invoice, { 0: '375.71' })).status).toBe(400);
    expect((await noteOn(api, invoice, { 0: '375.70' })).body.credit_note_type).toBe('ADJUSTMENT');
    expect(await money.read(invoice.id)).toMatchObject({
      amount_due: '0.00',
      amount_remaining: '0.00',
      payment_status: 'SUCCEEDED',
    });
  });

  test('MT-11: paid by 20 of a balance and 80 by card, each goes back where it came from', async ({
    api,
    money,
  }) => {
    const wallet = await makeWallet(api, {
      wallet_type: 'POST_PAID',
      initial_credits_to_load: '20',
    });
    const invoice = await giveInvoice(api, ['100'], { customerId: wallet.customer_id });
    await api.call('POST', `/v1/invoices/${invoice.id}/payment/attempt`);
    expect(await money.read(invoice.id)).toMatchObject({ amount_remaining: '80.00' });
    await pay(api, invoice, { amount: '80' });
    const { items } = (await api.call('GET', `/v1/payments?destination_id=${invoice.id}`)).body;
    for (const payment of items) await put(api, payment, { payment_status: 'REFUNDED' });
    expect(await money.read(invoice.id)).toMatchObject({
      payment_status: 'REFUNDED',
      refunded_amount: '100.00',
    });
    const refunded = items.map((one: Answer) => [one.payment_method_type, one.amount]);
    expect(refunded.sort()).toEqual([
      ['CARD', '80.00'],
      ['CREDITS', '20.00'],
    ]);
    const wallets = await api.make('/v1/wallets/search', {});
    const held = wallets.items.map((one: Answer) => one.balance);
    expect(held.sort()).toEqual(['0', '20']);
  });

  test('HS-02: after a lost dispute nothing is left to give back', async ({ api, money }) => {
    const invoice = await giveInvoice(api, ['100'], { customerId: await makeCustomer(api) });
    const payment = await pay(api, invoice, { amount: '100' });
    const lost = { payment_status: 'REFUNDED' };
    await put(api, payment, lost);
    const note = await noteOn(api, invoice, { 0: '100' });
    expect([note.status, note.body.code]).toEqual([400, 'invalid_operation']);
    expect((await put(api, payment, inPart('100.01'))).code).toBe('validation_error');
    expect((await put(api, payment, lost)).code).toBe('invalid_operation');
    expect(await money.read(invoice.id)).toMatchObject({ refunded_amount: '100.00' });
    expect((await api.make('/v1/wallets/search', {})).items).toEqual([]);
  });

  test('HS-02: a refund whose answer was lost, asked for again with its key, is the same', async ({
    api,
    money,
  }) => {
    const invoice = await giveInvoice(api, ['100'], { customerId: await makeCustomer(api) });
    await pay(api, invoice, { amount: '100' });
    const body = { ...bodyOfNote(invoice, { 0: '60' }), idempotency_key: 'refund' };
    const again = () => api.call('POST', '/v1/creditnotes', { body });
    const notes = [await again(), await again()];
    expect(notes[1]?.body.id).toBe(notes[0]?.body.id);
    expect(await money.read(invoice.id)).toMatchObject({ refunded_amount: '60.00' });
  });
});

describe('payments as other systems follow them', () => {
  test('MT-13: what was refunded in all counts, and the same again changes nothing', async ({
    api,
    money,
  }) => {
    const invoice = await giveInvoice(api, ['100'], { customerId: await makeCustomer(api) });
    const payment = await pay(api, invoice, { amount: '100' });
    for (const refunded of ['30', '30', '45', '45']) {
      await put(api, payment, inPart(refunded));
      expect(await money.read(invoice.id)).toMatchObject({
        amount_paid: '100.00',
        refunded_amount: `${refunded}.00`,
        payment_status: 'PARTIALLY_REFUNDED',
      });
    }
    // What was before comes too late.
    expect((await put(api, payment, inPart('30'))).code).toBe('validation_error');
  });

  test('MT-13: a disputed payment reopens its invoice, and what is won again pays it', async ({
    api,
    money,
  }) => {
    const invoice = await giveInvoice(api, ['100'], { customerId: await makeCustomer(api) });
    await pay(api, invoice, { amount: '40', key: 'first' });
    const disputed = await pay(api, invoice, { amount: '60', key: 'second' });
    expect(await money.read(invoice.id)).toMatchObject({ payment_status: 'SUCCEEDED' });
    for (let times = 0; times < 2; times += 1) {
      await put(api, disputed, { payment_status: 'VOIDED' });
      expect(await money.read(invoice.id)).toMatchObject({
        payment_status: 'PENDING',
        amount_paid: '40.00',
        amount_remaining: '60.00',
      });
    }
    const reinstated = await pay(api, invoice, { amount: '60', key: 'reinstated' });
    for (let times = 0; times < 2; times += 1) {
      await put(api, reinstated, { payment_status: 'SUCCEEDED' });
      expect(await money.read(invoice.id)).toMatchObject({
        payment_status: 'SUCCEEDED',
        amount_paid: '100.00',
        amount_remaining: '0.00',
      });
    }
  });
});

test('KB-36: a void invoice accepts nothing more', async ({ api, due, money: _ }) => {
  await api.call('POST', `/v1/invoices/${due.id}/void`, { body: {} });
  const path = `/v1/invoices/${due.id}`;
  const tries = await Promise.all([
    noteOn(api, due, { 0: '1' }),
    api.call('PUT', `${path}/payment`, { body: { amount: '1' } }),
    api.call('POST', `${path}/line_items`, { body: { display_name: 'More', amount: '1' } }),
    api.call('POST', `${path}/void`, { body: {} }),
    api.call('POST', `${path}/payment/attempt`),
    api.call('POST', '/v1/payments', {
      body: {
        destination_type: 'INVOICE',
        destination_id: due.id,
        currency: 'usd',
        payment_method_type: 'OFFLINE',
        amount: '1',
      },
    }),
  ]);
  expect(tries.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400]);
});

describe('KB-51: a credit that has paid a part of an invoice', () => {
  test('is taken back, which reopens the invoice', async ({ api, money }) => {
    const postpaid = await makeWallet(api, { wallet_type: 'POST_PAID' });
    await topUp(api, postpaid, { ...FREE, credits_to_add: '1' });
    const invoice = await giveInvoice(api, ['10'], { customerId: postpaid.customer_id });
    await api.call('POST', `/v1/invoices/${invoice.id}/payment/attempt`);
    expect(await money.read(invoice.id)).toMatchObject({ amount_remaining: '9.00' });
    const { items } = (await api.call('GET', `/v1/payments?destination_id=${invoice.id}`)).body;
    await put(api, items[0], { payment_status: 'VOIDED' });
    expect(await money.read(invoice.id)).toMatchObject({ amount_remaining: '10.00' });
    const wallets = (await api.make('/v1/wallets/search', {})).items;
    const back = wallets.find((one: Answer) => one.balance === '1');
    expect((await debit(api, back, '1')).status).toBe(200);
    const held = (await api.make('/v1/wallets/search', {})).items;
    expect(held.map((one: Answer) => one.balance)).toEqual(['0', '0']);
  });

  test('and one that the service made can be deleted by nobody', async ({ api, due, money }) => {
    await money.pay(due.id, { payment_status: 'SUCCEEDED' });
    await noteOn(api, due, { 0: '1' });
    const [wallet] = (await api.make('/v1/wallets/search', {})).items;
    const path = `/v1/wallets/${wallet.id}/transactions`;
    const [credit] = (await api.call('GET', path)).body.items;
    expect(credit.transaction_reason).toBe('CREDIT_NOTE');
    const options = { isUndocumented: true } as const;
    const removed = await api.call('DELETE', `${path}/${credit.id}`, options);
    expect(removed.status).toBe(404);
    expect((await readWallet(api, wallet)).balance).toBe('1');
  });
});
