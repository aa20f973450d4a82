import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { test, type Answer } from '../../testing/money-test.js';

/**
 * Worked cases of other billing systems about credits and credit notes, by the ids under which they
 * were collected. Where ours differ, docs/domain.md 34.27 says which and why.
 */

type Credit = { readonly credits: string; readonly priority?: number; readonly expires?: string };

/** Credits in a wallet, a debit, and what is left of each credit. */
type Debited = { readonly credits: Credit[]; readonly debit: string; readonly left: string[] };
const DEBITS: Readonly<Record<string, Debited>> = {
  'OM-18': {
    credits: [
      { credits: '100', priority: 2 },
      { credits: '100', priority: 1 },
    ],
    ...{ debit: '120', left: ['80', '0'] },
  },
  'OM-21': {
    credits: [
      { credits: '50', priority: 2 },
      { credits: '30', priority: 1 },
    ],
    ...{ debit: '60', left: ['20', '0'] },
  },
  'OM-22': {
    credits: [
      { credits: '15', expires: '2298-02-01T00:00:00Z' },
      { credits: '10', expires: '2298-01-01T00:00:00Z' },
    ],
    ...{ debit: '15', left: ['10', '0'] },
  },
  'FP-23': {
    credits: [
      { credits: '50' },
      { credits: '30', expires: '2036-01-01T00:00:00Z' },
      { credits: '20', expires: '2036-02-01T00:00:00Z' },
      { credits: '100', expires: '2036-03-01T00:00:00Z' },
    ],
    ...{ debit: '70', left: ['50', '0', '0', '80'] },
  },
  'LG-25, with the greater credit first': {
    credits: [{ credits: '30' }, { credits: '50' }],
    ...{ debit: '60', left: ['20', '0'] },
  },
};

async function customerOf(api: BillingUnderTest): Promise<string> {
  return (await api.make('/v1/customers', { external_id: 'peer' })).id;
}

const ALL = { config: { allowed_price_types: ['ALL'] } };

async function invoiceOf(
  api: BillingUnderTest,
  amounts: readonly string[],
  { customerId, ...members }: { readonly customerId: string } & Record<string, unknown>,
): Promise<Answer> {
  const cents = amounts.reduce((sum, amount) => sum + Math.round(Number(amount) * 100), 0);
  const total = (cents / 100).toFixed(2);
  return api.make('/v1/invoices', {
    ...{ customer_id: customerId, currency: 'usd', subtotal: total, total, amount_due: total },
    line_items: amounts.map((amount) => ({ display_name: 'Line', amount })),
    ...members,
  });
}

async function taxOf(api: BillingUnderTest, percentage: string): Promise<string> {
  const code = `tax ${percentage}`;
  await api.make('/v1/taxes/rates', {
    ...{ name: code, code, tax_rate_type: 'percentage', percentage_value: percentage },
  });
  return code;
}

/** A note on lines of an invoice, by their places. */
const note = (api: BillingUnderTest, invoice: Answer, amounts: Readonly<Record<number, string>>) =>
  api.call('POST', '/v1/creditnotes', {
    body: {
      invoice_id: invoice.id,
      line_items: Object.entries(amounts).map(([place, amount]) => ({
        ...{ invoice_line_item_id: invoice.line_items[Number(place)].id, amount },
      })),
    },
  });

describe('credits as other systems use them', () => {
  test.for(Object.entries(DEBITS))(
    '%s',
    async ([, { credits, debit, left }], { api, money: _ }) => {
      const customerId = await customerOf(api);
      const wallet = await api.make('/v1/wallets', { customer_id: customerId, currency: 'usd' });
      const path = `/v1/wallets/${wallet.id}`;
      const ids: string[] = [];
      for (const { credits: amount, priority, expires } of credits) {
        const { body } = await api.call('POST', `${path}/top-up`, {
          body: {
            ...{ credits_to_add: amount, transaction_reason: 'FREE_CREDIT_GRANT' },
            ...(priority === undefined ? {} : { priority }),
            ...(expires === undefined ? {} : { expiry_date_utc: expires }),
          },
        });
        ids.push(body.wallet_transaction.id);
      }
      const reason = 'CREDIT_ADJUSTMENT';
      await api.call('POST', `${path}/debit`, {
        body: { credits: debit, idempotency_key: 'k', transaction_reason: reason },
      });
      const { items } = (await api.call('GET', `${path}/transactions`)).body;
      const available = new Map(items.map((one: Answer) => [one.id, one.credits_available]));
      expect(ids.map((id) => available.get(id))).toEqual(left);
    },
  );

  test.for([
    ['OD-02', '40', '100', '60.00', '0'],
    ['ZU-02', '200', '300', '100.00', '0'],
  ] as const)('%s', async ([, prepaid, charge, due, left], { api, money: _ }) => {
    const customerId = await customerOf(api);
    const members = { customer_id: customerId, currency: 'usd', ...ALL };
    const wallet = await api.make('/v1/wallets', { ...members, initial_credits_to_load: prepaid });
    expect(await invoiceOf(api, [charge], { customerId })).toMatchObject({ amount_due: due });
    const read = await api.call('GET', `/v1/wallets/${wallet.id}`);
    expect(read.body.credit_balance).toBe(left);
  });

  test('OD-03', async ({ api, money }) => {
    const members = { customer_id: await customerOf(api), currency: 'usd' };
    const wallet = await api.make('/v1/wallets', { ...members, topup_conversion_rate: '0.50' });
    const path = `/v1/wallets/${wallet.id}`;
    const { body } = await api.call('POST', `${path}/top-up`, {
      body: { credits_to_add: '100', transaction_reason: 'PURCHASED_CREDIT_INVOICED' },
    });
    const invoice = await money.pay(body.invoice_id, { payment_status: 'SUCCEEDED' });
    expect(invoice.total).toBe('50.00');
    expect((await api.call('GET', path)).body.credit_balance).toBe('100');
  });
});

describe('credit notes as other systems make them', () => {
  test('LG-05: of two equal lines the second takes the missing cent', async ({ api, money }) => {
    const members = { customerId: await customerOf(api), tax_rates: [await taxOf(api, '20')] };
    const invoice = await invoiceOf(api, ['68.33', '68.33'], members);
    expect(invoice).toMatchObject({ total_tax: '27.33', total: '163.99' });
    await money.pay(invoice.id, { payment_status: 'SUCCEEDED' });
    expect((await note(api, invoice, { 0: '82.00' })).status).toBe(201);
    expect((await note(api, invoice, { 1: '82.00' })).body.message).toMatch(/at most 81.99/);
    expect((await note(api, invoice, { 1: '81.99' })).status).toBe(201);
    expect(await money.read(invoice.id)).toMatchObject({ payment_status: 'REFUNDED' });
  });

  test('LG-06: four equal lines, the last in three parts, add up to the invoice', async ({
    api,
    money,
  }) => {
    const members = { customerId: await customerOf(api), tax_rates: [await taxOf(api, '20')] };
    const invoice = await invoiceOf(api, ['68.33', '68.33', '68.33', '68.33'], members);
    expect(invoice).toMatchObject({ total_tax: '54.66', total: '327.98' });
    await money.pay(invoice.id, { payment_status: 'SUCCEEDED' });
    // The two missing cents are taken by the last two lines, one each.
    for (const amounts of [{ 0: '82.00' }, { 1: '82.00' }, { 2: '81.99' }]) {
      expect((await note(api, invoice, amounts)).status).toBe(201);
    }
    for (const part of ['16.40', '26.80', '38.79']) {
      expect((await note(api, invoice, { 3: part })).status).toBe(201);
    }
    expect(await money.read(invoice.id)).toMatchObject({ refunded_amount: '327.98' });
  });

  test('MT-08: lines with a coupon and a tax, in two notes; a line again is refused', async ({
    api,
    money,
  }) => {
    await api.make('/v1/coupons', {
      ...{ name: 'Ten', coupon_code: 'TEN', type: 'percentage', percentage_off: '10' },
      cadence: 'forever',
    });
    const adjusted = { tax_rates: [await taxOf(api, '10')], coupons: ['TEN'] };
    const members = { customerId: await customerOf(api), ...adjusted };
    const invoice = await invoiceOf(api, ['10', '20', '30', '40'], members);
    expect(invoice.total).toBe('99.00');
    await money.pay(invoice.id, { payment_status: 'SUCCEEDED' });
    const first = await note(api, invoice, { 0: '9.90', 1: '19.80' });
    expect(first.body.total_amount).toBe('29.70');
    expect((await note(api, invoice, { 0: '0.01' })).status).toBe(400);
    const second = await note(api, invoice, { 2: '29.70', 3: '39.60' });
    expect(second.body.total_amount).toBe('69.30');
    expect(await money.read(invoice.id)).toMatchObject({ refunded_amount: '99.00' });
  });

  test('MT-10: of two notes for the same line at the same moment one succeeds', async ({
    api,
    due,
    money: _,
  }) => {
    const notes = await Promise.all([1, 2].map(() => note(api, due, { 0: '122.00' })));
    expect(notes.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test('KB-36: a void invoice accepts nothing more', async ({ api, due, money: _ }) => {
    await api.call('POST', `/v1/invoices/${due.id}/void`, { body: {} });
    const path = `/v1/invoices/${due.id}`;
    const tries = await Promise.all([
      note(api, due, { 0: '1' }),
      api.call('PUT', `${path}/payment`, { body: { amount: '1' } }),
      api.call('POST', `${path}/line_items`, { body: { display_name: 'More', amount: '1' } }),
      api.call('POST', `${path}/void`, { body: {} }),
    ]);
    expect(tries.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  });

  test('LG-10: no more is given back than was paid', async ({ api, due, money }) => {
    await money.pay(due.id, { amount: '130' });
    const beyond = await note(api, due, { 0: '122.01' });
    expect(beyond.status).toBe(400);
    expect((await note(api, due, { 0: '122.00' })).body.credit_note_type).toBe('REFUND');
  });
});
