import { describe, expect } from 'vitest';
import type { Bill } from '../../testing/billed-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectRefused, makeInvoice, test, type Answer } from '../../testing/money-test.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';
import { payOpen } from '../../testing/pay-open.js';

const noteOn = (invoice: Answer, amount: string, differing: object = {}) => ({
  invoice_id: invoice.id,
  line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount }],
  ...differing,
});

const credit = (api: BillingUnderTest, body: object) =>
  api.call('POST', '/v1/creditnotes', { body });

/** An invoice of three lines with a coupon of 10 % and two taxes. */
async function makeTaxed(api: BillingUnderTest) {
  const customer = await api.make('/v1/customers', { external_id: 'taxed' });
  await api.make('/v1/coupons', {
    name: 'Ten',
    coupon_code: 'TEN',
    type: 'percentage',
    percentage_off: '10',
    cadence: 'forever',
  });
  for (const [code, value] of [
    ['VAT', '19'],
    ['CITY', '0.7'],
  ]) {
    await api.make('/v1/taxes/rates', {
      name: code,
      code,
      tax_rate_type: 'percentage',
      percentage_value: value,
    });
  }
  const lines = ['33.33', '33.33', '0.05'].map((amount) => ({ display_name: 'Work', amount }));
  return api.make('/v1/invoices', {
    customer_id: customer.id,
    currency: 'usd',
    line_items: lines,
    subtotal: '66.71',
    total: '66.71',
    amount_due: '66.71',
    coupons: ['TEN'],
    tax_rates: ['VAT', 'CITY'],
  });
}

describe('credit notes', () => {
  test('give 122 back as 50 and 72, to a wallet, and not a cent more', async ({
    api,
    due,
    money,
  }) => {
    await money.pay(due.id, { payment_status: 'SUCCEEDED' });
    const first = await credit(api, noteOn(due, '50'));
    expect(first.body).toMatchObject({
      credit_note_type: 'REFUND',
      credit_note_status: 'FINALIZED',
      refund_status: 'SUCCEEDED',
      total_amount: '50.00',
    });
    expect(first.body.credit_note_number).toMatch(/^CN-[0-9A-Z]{9}$/);
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      refunded_amount: '50.00',
    });
    const beyond = await credit(api, noteOn(due, '72.01'));
    expect(beyond.status).toBe(400);
    expect(beyond.body.message).toMatch(/at most 72.*122.*50/);
    await credit(api, noteOn(due, '72'));
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'REFUNDED',
      refunded_amount: '122.00',
    });
    const { items } = await api.make('/v1/wallets/search', { customer_ids: [due.customer_id] });
    expect(items).toMatchObject([{ credit_balance: '122' }]);
  });

  test('are listed with their invoice and its parties when they are asked for, as wallets and invoices are', async ({
    api,
    due,
    money,
  }) => {
    await money.pay(due.id, { payment_status: 'SUCCEEDED' });
    await credit(api, noteOn(due, '50'));
    const list = async (query: string) =>
      (await api.call('GET', `/v1/creditnotes${query}`)).body.items[0];
    const none = { invoice: null, customer: null, subscription: null };
    expect(await list('')).toMatchObject(none);
    const full = await list('?expand=invoice,customer');
    expect(full).toMatchObject({
      invoice: { id: due.id, total: '122.00' },
      customer: { id: due.customer_id },
      subscription: null,
      line_items: [{ amount: '50.00' }],
    });
    expect(full.invoice.line_items).toBeNull();
    const refused = await api.call('GET', '/v1/creditnotes?expand=payments');
    expect(refused.body.details).toEqual({
      expand: 'cannot expand payments; name one of invoice, customer, subscription',
    });
    const find = async (path: string, body: object) => (await api.make(path, body)).items[0];
    const customer = { id: due.customer_id };
    expect(await find('/v1/wallets/search', {})).toMatchObject({ customer: null });
    const wallet = await find('/v1/wallets/search', { expand: 'customer' });
    expect(wallet).toMatchObject({ customer });
    const read = await api.call('GET', `/v1/wallets/${wallet.id}`);
    expect(read.body).toMatchObject({ customer, credit_balance: '50' });
    const expand = 'customer,subscription,line_items';
    expect(await find('/v1/invoices/search', { expand })).toMatchObject({ customer });
    expect(await find('/v1/invoices/search', {})).toMatchObject({ customer });
  });

  test('lower what is to be paid of an open invoice, and settle it', async ({
    api,
    due,
    money,
  }) => {
    await money.pay(due.id, { amount: '100' });
    const note = await credit(api, noteOn(due, '20'));
    expect(note.body).toMatchObject({ credit_note_type: 'ADJUSTMENT', refund_status: null });
    expect(await money.read(due.id)).toMatchObject({
      adjustment_amount: '20.00',
      amount_due: '102.00',
      amount_remaining: '2.00',
      payment_status: 'PENDING',
    });
    expect((await credit(api, noteOn(due, '2.01'))).status).toBe(400);
    await credit(api, noteOn(due, '2'));
    expect(await money.read(due.id)).toMatchObject({
      amount_remaining: '0.00',
      payment_status: 'SUCCEEDED',
      total: '122.00',
    });
  });

  test('undo an adjustment when they are voided, and never a refund', async ({
    api,
    due,
    money,
  }) => {
    const note = (await credit(api, noteOn(due, '122'))).body;
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'SUCCEEDED' });
    const path = `/v1/creditnotes/${note.id}`;
    expect((await api.call('POST', `${path}/void`)).body).toMatchObject({
      credit_note_status: 'VOIDED',
    });
    expect(await money.read(due.id)).toMatchObject({
      adjustment_amount: '0.00',
      amount_remaining: '122.00',
      payment_status: 'PENDING',
    });
    await money.pay(due.id, { payment_status: 'SUCCEEDED' });
    const refund = (await credit(api, noteOn(due, '1'))).body;
    const refused = await api.call('POST', `/v1/creditnotes/${refund.id}/void`);
    expect(refused.body.message).toMatch(/given back/);
  });

  test('of two drafts within the limit that are finalized at once, one succeeds', async ({
    api,
    due,
    money,
  }) => {
    await money.pay(due.id, { amount: '60' });
    const draft = { process_credit_note: false };
    const first = (await credit(api, noteOn(due, '40', draft))).body;
    expect(first.credit_note_status).toBe('DRAFT');
    expect((await credit(api, noteOn(due, '40', draft))).body.message).toMatch(/drafts have 40/);
    const second = (await credit(api, noteOn(due, '22', draft))).body;
    await money.pay(due.id, { amount: '22' });
    const done = await Promise.all(
      [first, second].map(({ id }) => api.call('POST', `/v1/creditnotes/${id}/finalize`)),
    );
    expect(done.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  test('of 60 twice at once on 100 that were paid are one, and so are refunds of its payment', async ({
    api,
    money,
  }) => {
    const invoice = await makeInvoice(api, '100');
    await money.pay(invoice.id, { amount: '100' });
    const notes = await Promise.all([1, 2].map(() => credit(api, noteOn(invoice, '60'))));
    expect(notes.map(({ status }) => status).sort()).toEqual([201, 400]);
    const payments = await api.call('GET', `/v1/payments?destination_id=${invoice.id}`);
    const path = `/v1/payments/${payments.body.items[0].id}`;
    const body = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '40.01' };
    const refunds = await Promise.all([1, 2].map(() => api.call('PUT', path, { body })));
    expect(refunds.map(({ status }) => status)).toEqual([400, 400]);
    expect(await money.read(invoice.id)).toMatchObject({ refunded_amount: '60.00' });
  });

  test('of an invoice with taxes that a wallet paid in part give back what was paid, and no more', async ({
    api,
    money,
  }) => {
    const { id } = await api.make('/v1/customers', { external_id: 'acme' });
    const config = { allowed_price_types: ['ALL'] };
    const wallet = { customer_id: id, currency: 'usd', config, initial_credits_to_load: '40' };
    await api.make('/v1/wallets', wallet);
    await api.make('/v1/taxes/rates', { name: 'VAT', code: 'vat', percentage_value: '20' });
    const invoice = await api.make('/v1/invoices', {
      customer_id: id,
      currency: 'usd',
      subtotal: '100',
      total: '100',
      amount_due: '100',
      line_items: [{ display_name: 'Work', amount: '100' }],
      tax_rates: ['vat'],
    });
    expect(invoice).toMatchObject({ total_tax: '20.00', total: '80.00' });
    await money.pay(invoice.id, { amount: '80' });
    expect((await credit(api, noteOn(invoice, '80.01'))).body.message).toMatch(/at most 80/);
    expect((await credit(api, noteOn(invoice, '80'))).status).toBe(201);
    expect(await money.read(invoice.id)).toMatchObject({ payment_status: 'REFUNDED' });
  });

  test('of any order and size add up to the invoice, with its coupons and taxes, to the cent', async ({
    api,
    money,
  }) => {
    const invoice = await makeTaxed(api);
    await money.pay(invoice.id, { payment_status: 'SUCCEEDED' });
    const cents = (text: string): number => Math.round(Number(text) * 100);
    let left = cents(invoice.total);
    /** Credits so many cents of a line, or what is left of it. */
    const take = async (line: string, wanted: number): Promise<void> => {
      if (left === 0 || wanted === 0) return;
      const amount = (Math.min(wanted, left) / 100).toFixed(2);
      const body = { invoice_id: invoice.id, line_items: [{ invoice_line_item_id: line, amount }] };
      const answer = await credit(api, body);
      if (answer.status === 201) left -= cents(answer.body.total_amount);
      const most = /must be at most ([\d.]+)/.exec(answer.body.message ?? '')?.[1];
      if (most !== undefined) await take(line, cents(most));
    };
    for (const { id } of invoice.line_items) {
      for (const wanted of [1, 3, 700, 10_000]) await take(id, wanted);
    }
    expect(left).toBe(0);
    expect(await money.read(invoice.id)).toMatchObject({
      payment_status: 'REFUNDED',
      refunded_amount: invoice.total,
    });
  });

  test('with the same key are the same note, and a number is taken once', async ({
    api,
    due,
    money,
  }) => {
    const body = noteOn(due, '10', { idempotency_key: 'k', credit_note_number: 'CN-1' });
    const notes = await Promise.all([1, 2, 3].map(() => credit(api, body)));
    expect(new Set(notes.map((note) => note.body.id)).size).toBe(1);
    const taken = await credit(api, noteOn(due, '1', { credit_note_number: 'CN-1' }));
    expect([taken.status, taken.body.details]).toEqual([
      409,
      { credit_note_number: expect.any(String) },
    ]);
    expect(await money.read(due.id)).toMatchObject({ adjustment_amount: '10.00' });
    const read = await api.call('GET', `/v1/creditnotes/${notes[0]?.body.id}`);
    expect(read.body).toMatchObject({ invoice: { id: due.id }, customer: { id: due.customer_id } });
    const list = await api.call('GET', `/v1/creditnotes?invoice_id=${due.id}`);
    expect(list.body.items).toHaveLength(1);
  });

  test('are refused with the member for lines of others and bad amounts', async ({
    api,
    due,
    money,
  }) => {
    const line = due.line_items[0].id;
    await expectRefused(
      (body) => credit(api, body),
      [
        [noteOn(due, '1', { credit_note_number: 'CN\n2' }), /credit_note_number.*one line/],
        [noteOn(due, '0'), /line_items\.0\.amount/],
        [noteOn(due, '0.001'), /line_items\.0\.amount/],
        [noteOn(due, '122.01'), /line_items\.0\.amount/],
        [
          { invoice_id: due.id, line_items: [{ invoice_line_item_id: 'inv_line_x', amount: '1' }] },
          /line_items\.0\.invoice_line_item_id/,
        ],
        [
          {
            invoice_id: due.id,
            line_items: ['100', '22.01'].map((amount) => ({ invoice_line_item_id: line, amount })),
          },
          /line_items\.1\.amount/,
        ],
      ],
    );
    expect((await credit(api, { ...noteOn(due, '1'), invoice_id: 'inv_x' })).status).toBe(404);
    expect(await money.read(due.id)).toMatchObject({ adjustment_amount: '0.00' });
  });
});

test('a draft takes no credit note (CN-7)', async ({ api, bill, money: _ }) => {
  const { subscription } = await subscribeMonthly(api);
  await bill('2026-12-01T00:30:00.000Z');
  const found = { subscription_id: subscription.id, invoice_status: ['DRAFT'] };
  const [draft] = (await api.make('/v1/invoices/search', found)).items;
  const early = await credit(api, noteOn(draft, '1'));
  expect([early.status, early.body.message]).toEqual([400, expect.stringMatching(/is DRAFT/)]);
});

describe('credit notes and credits for unused time', () => {
  /** Subscribes customers from 1 January on to a month of 100, of which so much is paid. */
  async function january(api: BillingUnderTest, bill: Bill) {
    await bill('2026-01-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', amount: '100' };
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE' });
    return async (name: string, amount: string) => {
      await api.make('/v1/customers', { external_id: name });
      const subscription = await api.make('/v1/subscriptions', {
        external_customer_id: name,
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
      });
      const path = `/v1/invoices/${subscription.latest_invoice.id}`;
      if (Number(amount) > 0) await api.call('PUT', `${path}/payment`, { body: { amount } });
      const cancel = () =>
        api.call('POST', `/v1/subscriptions/${subscription.id}/cancel`, {
          body: { cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
        });
      const wallets = async () =>
        (await api.make('/v1/wallets/search', { external_customer_id: name })).items;
      const held = async (): Promise<string> => (await wallets())[0].balance;
      const undo = async () => (await api.call('POST', `${path}/void`, { body: {} })).body;
      const invoice = (await api.call('GET', path)).body;
      const refund = async (refunded_amount: string) => {
        const { body } = await api.call('GET', `/v1/payments?destination_id=${invoice.id}`);
        const payment_status = refunded_amount === amount ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
        return api.call('PUT', `/v1/payments/${body.items[0].id}`, {
          body: { payment_status, refunded_amount },
        });
      };
      return { invoice, cancel, held, wallets, undo, refund };
    };
  }

  test('give back no more than a line costs: 51.61 of 100 leave 48.39', async ({
    api,
    bill,
    money: _,
  }) => {
    const subscribe = await january(api, bill);
    const { invoice, cancel, held } = await subscribe('acme', '100');
    await bill('2026-01-16T00:00:00Z');
    expect((await cancel()).status).toBe(200);
    expect(await held()).toBe('51.61');
    const beyond = await credit(api, noteOn(invoice, '48.40'));
    expect(beyond.body.message).toMatch(/at most 48.39.*credits for unused time 51.61/);
    expect((await credit(api, noteOn(invoice, '48.39'))).status).toBe(201);
    expect(await held()).toBe('100');
  });

  test('in the other order: what a note has is not given back for unused time', async ({
    api,
    bill,
    money: _,
  }) => {
    const subscribe = await january(api, bill);
    const { invoice, cancel, held } = await subscribe('acme', '100');
    await credit(api, noteOn(invoice, '60'));
    await bill('2026-01-16T00:00:00Z');
    expect((await cancel()).status).toBe(200);
    expect(await held()).toBe('100');
    expect((await credit(api, noteOn(invoice, '0.01'))).status).toBe(400);
  });

  test.for(['a note', 'a refund'])(
    'on two invoices of one time leave both what the credit left of them together, after %s',
    async (what, { api, bill, money }) => {
      const subscribe = await january(api, bill);
      const { invoice, cancel, refund } = await subscribe('acme', '100');
      await bill('2026-01-16T00:00:00Z');
      const seats = { id: invoice.line_items[0].subscription_line_item_id, quantity: '2' };
      const { changed_resources: changed } = await api.make(
        `/v1/subscriptions/${invoice.subscription_id}/modify/execute`,
        { type: 'quantity_change', quantity_change_params: { line_items: [seats] } },
      );
      // 100.00 × 16 ÷ 31.
      const more = await money.read(changed.invoices[0].invoice.id);
      await money.pay(more.id, { amount: '51.61' });
      if (what === 'a note') await credit(api, noteOn(invoice, '90'));
      else await refund('90');
      await bill('2026-01-24T00:00:00Z');
      // 10.00 that are left, and 51.61 × 8 ÷ 16.
      expect((await cancel()).body.total_credit_amount).toBe('35.81');
      expect((await credit(api, noteOn(invoice, '0.01'))).status).toBe(400);
      expect((await credit(api, noteOn(more, '25.81'))).status).toBe(400);
      expect((await credit(api, noteOn(more, '25.80'))).status).toBe(201);
    },
  );

  test('count what was refunded of a payment before, as notes do', async ({
    api,
    bill,
    money: _,
  }) => {
    const subscribe = await january(api, bill);
    const found = [];
    const all = [];
    for (const refunded of ['100', '80', '40']) {
      const one = await subscribe(refunded, '100');
      expect((await one.refund(refunded)).status).toBe(200);
      all.push(one);
    }
    await bill('2026-01-16T00:00:00Z');
    for (const { invoice, cancel, wallets } of all) {
      const { body } = await cancel();
      const note = await credit(api, noteOn(invoice, '8.40'));
      const held = (await wallets()).map((one: Answer) => one.balance);
      found.push([body.total_credit_amount, ...held, note.status, note.body.message]);
    }
    const last = await credit(api, noteOn(all.at(-1)?.invoice, '8.39'));
    expect(last.status).toBe(201);
    expect(found).toEqual([
      ['0.00', 400, expect.stringMatching(/REFUNDED/)],
      [
        '20.00',
        '20',
        400,
        expect.stringMatching(/at most 0 .* 80 was given back.* unused time have 20/),
      ],
      [
        '51.61',
        '51.61',
        400,
        expect.stringMatching(/at most 8.39 .* 40 was given back.* unused time have 51.61/),
      ],
    ]);
  });

  test('leave of an invoice that is voided what was paid, and nothing of what was not', async ({
    api,
    bill,
    money: _,
  }) => {
    const subscribe = await january(api, bill);
    const all = [];
    for (const paid of ['100', '30', '0']) all.push(await subscribe(`of ${paid}`, paid));
    const bounced = await subscribe('bounced', '100');
    await bill('2026-01-16T00:00:00Z');
    for (const { cancel } of [...all, bounced]) await cancel();
    // It used 40 of 51.61, and the payment did not hold.
    const [wallet] = await bounced.wallets();
    await api.make(`/v1/wallets/${wallet.id}/debit`, { credits: '40', idempotency_key: 'used' });
    const { body } = await api.call('GET', `/v1/payments?destination_id=${bounced.invoice.id}`);
    const failed = { body: { payment_status: 'VOIDED' } };
    expect((await api.call('PUT', `/v1/payments/${body.items[0].id}`, failed)).status).toBe(200);
    const voided = [];
    for (const { undo, wallets } of [...all, bounced]) {
      const { payment_status: status, adjustment_amount: lowered } = await undo();
      voided.push([status, lowered, ...(await wallets()).map((one: Answer) => one.balance)]);
    }
    expect(voided).toEqual([
      ['REFUNDED', '0.00', '100'],
      ['REFUNDED', '51.61', '30'],
      ['VOIDED', '51.61'],
      ['VOIDED', '0.00', '-40'],
    ]);
  });

  test('of a later month leave an earlier invoice as it is', async ({ api, bill, money: _ }) => {
    const subscribe = await january(api, bill);
    const { cancel, held, undo } = await subscribe('acme', '100');
    await bill('2026-02-15T00:00:00Z');
    await payOpen(api);
    await cancel();
    const before = Number(await held());
    expect((await undo()).payment_status).toBe('REFUNDED');
    expect(Number(await held()) - before).toBe(100);
  });
});
