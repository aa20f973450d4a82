import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectRefused, test, type Answer } from '../../testing/money-test.js';
import { FREE, invoiceOf, makeWallet, topUp } from '../../testing/wallet-calls.js';
import { payOpen } from '../../testing/pay-open.js';

/** Accounts and amounts of movements, each as `account amount`; a debit is positive. */
type Postings = readonly string[];

async function allPostings(api: BillingUnderTest): Promise<Answer[]> {
  return (await api.make('/v1/ledger/postings/search', { limit: 1000 })).items;
}

/** What some work has posted. */
async function postedBy(api: BillingUnderTest, work: () => Promise<unknown>): Promise<Postings> {
  const before = new Set((await allPostings(api)).map(({ id }) => id));
  await work();
  const fresh = (await allPostings(api)).filter(({ id }) => !before.has(id));
  return fresh.map(({ account, amount }) => `${account} ${amount}`).sort();
}

const ALL = { config: { allowed_price_types: ['ALL'] } };
const pay = (api: BillingUnderTest, { id }: Answer, body: object) =>
  api.call('PUT', `/v1/invoices/${id}/payment`, { body });
const change = (api: BillingUnderTest, { id }: Answer, body: object) =>
  api.call('PUT', `/v1/payments/${id}`, { body });
const paymentsOf = async (api: BillingUnderTest, { id }: Answer): Promise<Answer[]> =>
  (await api.call('GET', `/v1/payments?destination_id=${id}`)).body.items;
const note = (api: BillingUnderTest, invoice: Answer, amount: string) =>
  api.make('/v1/creditnotes', {
    invoice_id: invoice.id,
    line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount }],
  });

/** An invoice of 100 of `acme` with a tax of 20 %. */
async function taxed(api: BillingUnderTest): Promise<Answer> {
  await api.make('/v1/taxes/rates', { name: 'VAT', code: 'vat', percentage_value: '20' });
  const { items } = await api.make('/v1/customers/search', { external_ids: ['acme'] });
  return api.make('/v1/invoices', {
    customer_id: items[0].id,
    currency: 'usd',
    subtotal: '100',
    total: '100',
    amount_due: '100',
    line_items: [{ display_name: 'Work', amount: '100' }],
    tax_rates: ['vat'],
  });
}

async function unpaid(api: BillingUnderTest, amount: string): Promise<Answer> {
  await api.make('/v1/customers', { external_id: 'acme' });
  return invoiceOf(api, amount);
}

/** An invoice of 30 that a POST_PAID wallet with 100 has paid, and the payment. */
async function paidByCredits(api: BillingUnderTest): Promise<Answer> {
  await makeWallet(api, { wallet_type: 'POST_PAID', initial_credits_to_load: '100' });
  const invoice = await invoiceOf(api, '30');
  await api.call('POST', `/v1/invoices/${invoice.id}/payment/attempt`);
  return (await paymentsOf(api, invoice))[0];
}

const VOIDED = { payment_status: 'VOIDED' };
const REFUNDED = { payment_status: 'REFUNDED' };

type Movement = {
  readonly name: string;
  /** Steps one after the other with what each of them posts. */
  readonly steps: (
    api: BillingUnderTest,
  ) => AsyncGenerator<readonly [work: () => Promise<unknown>, posted: Postings]>;
};

/** Every row of the table of docs/domain.md 21.2, and its example. */
const MOVEMENTS: readonly Movement[] = [
  {
    name: 'an invoice of 100 with 20 % tax, of which a wallet pays 40, is finalized, paid and voided',
    steps: async function* (api) {
      await makeWallet(api, { ...ALL, initial_credits_to_load: '40' });
      let invoice: Answer;
      const posted = ['receivable 80', 'revenue -100', 'tax -20', 'wallet 40'];
      yield [async () => (invoice = await taxed(api)), posted];
      const paid = { payment_status: 'SUCCEEDED' };
      yield [() => pay(api, invoice, paid), ['payments 80', 'receivable -80']];
      const voided = ['revenue 100', 'tax 20', 'wallet -120'];
      yield [() => api.call('POST', `/v1/invoices/${invoice.id}/void`, { body: {} }), voided];
    },
  },
  {
    name: 'an invoice of an open claim is voided',
    steps: async function* (api) {
      const invoice = await unpaid(api, '10');
      await pay(api, invoice, { amount: '4' });
      await note(api, invoice, '1');
      const voided = ['receivable -5', 'refunds -1', 'revenue 10', 'wallet -4'];
      yield [() => api.call('POST', `/v1/invoices/${invoice.id}/void`, { body: {} }), voided];
    },
  },
  {
    name: 'an invoice sells 40 credits at 0.5, and is paid',
    steps: async function* (api) {
      const wallet = await makeWallet(api, { topup_conversion_rate: '0.5' });
      let id = '';
      const body = { credits_to_add: '40', transaction_reason: 'PURCHASED_CREDIT_INVOICED' };
      yield [
        async () => (id = (await topUp(api, wallet, body)).invoice_id),
        ['receivable 20', 'wallet_funding -20'],
      ];
      yield [
        () => pay(api, { id }, { amount: '20' }),
        ['payments 20', 'receivable -20', 'wallet -40', 'wallet_funding 40'],
      ];
    },
  },
  {
    name: 'a payment succeeds, and is voided',
    steps: async function* (api) {
      const invoice = await unpaid(api, '10');
      const succeeded = ['payments 10', 'receivable -10'];
      yield [() => pay(api, invoice, { amount: '10' }), succeeded];
      const [payment] = await paymentsOf(api, invoice);
      yield [() => change(api, payment, VOIDED), ['payments -10', 'receivable 10']];
    },
  },
  {
    name: 'a payment is refunded in two parts',
    steps: async function* (api) {
      const invoice = await unpaid(api, '10');
      await pay(api, invoice, { amount: '10' });
      const [payment] = await paymentsOf(api, invoice);
      const part = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '4' };
      yield [() => change(api, payment, part), ['payments -4', 'refunds 4']];
      yield [() => change(api, payment, REFUNDED), ['payments -6', 'refunds 6']];
    },
  },
  {
    name: 'what was paid too much is refunded, and no revenue with it',
    steps: async function* (api) {
      const invoice = await unpaid(api, '122');
      await pay(api, invoice, { amount: '122' });
      await pay(api, invoice, { amount: '30' });
      const over = (await paymentsOf(api, invoice)).find(({ amount }) => amount === '30.00');
      yield [() => change(api, over, REFUNDED), ['payments -30', 'receivable 30']];
    },
  },
  {
    name: 'credits that were sold go back with their money, and come again with it',
    steps: async function* (api) {
      const wallet = await makeWallet(api, { topup_conversion_rate: '0.5' });
      const body = { credits_to_add: '40', transaction_reason: 'PURCHASED_CREDIT_INVOICED' };
      const { invoice_id: id } = await topUp(api, wallet, body);
      await pay(api, { id }, { amount: '20' });
      const { body: sold } = await api.call('GET', `/v1/invoices/${id}`);
      const noted = ['wallet -5', 'wallet 10', 'wallet_funding -10', 'wallet_funding 5'];
      yield [() => note(api, sold, '5'), noted];
      const [payment] = await paymentsOf(api, { id });
      const back = { payment_status: 'PARTIALLY_REFUNDED', refunded_amount: '15' };
      const refunded = ['payments -15', 'wallet 30', 'wallet_funding -30', 'wallet_funding 15'];
      yield [() => change(api, payment, back), refunded];
      const again = [
        'payments 15',
        'receivable -15',
        'receivable 15',
        'wallet -30',
        'wallet_funding -15',
        'wallet_funding 30',
      ];
      yield [() => pay(api, { id }, { amount: '15' }), again];
    },
  },
  {
    name: 'a note lowers what sold credits cost',
    steps: async function* (api) {
      const wallet = await makeWallet(api);
      const body = { credits_to_add: '40', transaction_reason: 'PURCHASED_CREDIT_INVOICED' };
      const { invoice_id: id } = await topUp(api, wallet, body);
      const { body: sold } = await api.call('GET', `/v1/invoices/${id}`);
      yield [() => note(api, sold, '10'), ['receivable -10', 'wallet_funding 10']];
      const voided = ['receivable -30', 'wallet_funding -10', 'wallet_funding 40'];
      yield [() => api.call('POST', `/v1/invoices/${id}/void`, { body: {} }), voided];
    },
  },
  {
    name: 'a payment of a customer succeeds, and is refunded',
    steps: async function* (api) {
      const { id } = await api.make('/v1/customers', { external_id: 'acme' });
      let payment: Answer;
      const body = {
        destination_type: 'CUSTOMER',
        destination_id: id,
        payment_method_type: 'OFFLINE',
        amount: '10',
        currency: 'usd',
        process_payment: true,
      };
      yield [
        async () => (payment = await api.make('/v1/payments', body)),
        ['payments 10', 'wallet -10'],
      ];
      yield [() => change(api, payment, REFUNDED), ['payments -10', 'wallet 10']];
    },
  },
  {
    name: 'credits pay an invoice, and are refunded',
    steps: async function* (api) {
      let payment: Answer;
      yield [
        async () => (payment = await paidByCredits(api)),
        // The credits were given, the invoice finalized, and paid.
        [
          'receivable -30',
          'receivable 30',
          'revenue -30',
          'wallet -100',
          'wallet 30',
          'wallet_funding 100',
        ],
      ];
      yield [() => change(api, payment, REFUNDED), ['refunds 30', 'wallet -30']];
    },
  },
  {
    name: 'a payment by credits is voided',
    steps: async function* (api) {
      const payment = await paidByCredits(api);
      yield [() => change(api, payment, VOIDED), ['receivable 30', 'wallet -30']];
    },
  },
  {
    name: 'a note lowers what is to be paid, and is voided',
    steps: async function* (api) {
      const invoice = await unpaid(api, '10');
      let made: Answer;
      yield [async () => (made = await note(api, invoice, '4')), ['receivable -4', 'refunds 4']];
      const path = `/v1/creditnotes/${made.id}/void`;
      yield [() => api.call('POST', path), ['receivable 4', 'refunds -4']];
    },
  },
  {
    name: 'a note gives money back',
    steps: async function* (api) {
      const invoice = await unpaid(api, '122');
      await pay(api, invoice, { amount: '122' });
      yield [() => note(api, invoice, '50'), ['refunds 50', 'wallet -50']];
      yield [() => note(api, invoice, '72'), ['refunds 72', 'wallet -72']];
    },
  },
  {
    name: 'credits are given, bought for 50 at 0.5, debited by hand, and end with their wallet',
    steps: async function* (api) {
      const wallet = await makeWallet(api, { topup_conversion_rate: '0.5' });
      const path = `/v1/wallets/${wallet.id}`;
      yield [
        () => topUp(api, wallet, { ...FREE, credits_to_add: '7.5' }),
        ['wallet -7.5', 'wallet_funding 7.5'],
      ];
      const bought = { amount: '50', transaction_reason: 'PURCHASED_CREDIT_DIRECT' };
      yield [() => topUp(api, wallet, bought), ['payments 50', 'wallet -100', 'wallet_funding 50']];
      const body = { credits: '17.5', idempotency_key: 'k' };
      yield [() => api.call('POST', `${path}/debit`, { body }), ['wallet 17.5', 'write_off -17.5']];
      yield [() => api.call('POST', `${path}/terminate`), ['wallet 90', 'write_off -90']];
    },
  },
  {
    name: 'a wallet is made POST_PAID',
    steps: async function* (api) {
      const wallet = await makeWallet(api, { initial_credits_to_load: '12.5' });
      const body = { modification_type: 'prepaid_to_postpaid' };
      const path = `/v1/wallets/${wallet.id}/modify`;
      yield [() => api.call('POST', path, { body }), ['wallet -12.5', 'wallet 12.5']];
    },
  },
];

describe('movements of money', () => {
  test.for(MOVEMENTS)('$name', async ({ steps }, { api, money: _ }) => {
    let count = 0;
    for await (const [work, posted] of steps(api)) {
      count += 1;
      expect([count, await postedBy(api, work)]).toEqual([count, posted]);
    }
  });

  test('credits expire', async ({ api, bill, money: _ }) => {
    await bill('2026-10-01T00:00:00Z');
    await makeWallet(api, {
      initial_credits_to_load: '7',
      initial_credits_expiry_date_utc: '2026-10-02T00:00:00Z',
    });
    const posted = await postedBy(api, () => bill('2026-10-02T00:00:00Z'));
    expect(posted).toEqual(['wallet 7', 'write_off -7']);
  });

  test.for([
    {
      isPaid: true,
      credited: ['refunds 51.61', 'wallet -51.61'],
      returned: ['refunds -51.61', 'revenue 100', 'wallet -48.39'],
    },
    // Nobody has paid: the invoice is lowered, and its voiding undoes the rest.
    {
      isPaid: false,
      credited: ['receivable -51.61', 'refunds 51.61'],
      returned: ['receivable -48.39', 'refunds -51.61', 'revenue 100'],
    },
  ])(
    'unused advance charges, 51.61 of January, paid: $isPaid',
    async ({ isPaid, credited, returned }, { api, bill, money: _ }) => {
      await bill('2026-01-01T00:00:00Z');
      await api.make('/v1/customers', { external_id: 'acme' });
      const plan = await api.make('/v1/plans', { name: 'Pro' });
      const price = { entity_id: plan.id, currency: 'usd', amount: '100' };
      await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE' });
      const { id, latest_invoice: opening } = await api.make('/v1/subscriptions', {
        external_customer_id: 'acme',
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
      });
      if (isPaid) await payOpen(api);
      await bill('2026-01-16T00:00:00Z');
      const body = { cancellation_type: 'immediate', proration_behavior: 'create_prorations' };
      const posted = await postedBy(api, () =>
        api.call('POST', `/v1/subscriptions/${id}/cancel`, { body }),
      );
      expect(posted).toEqual(credited);
      const voided = await postedBy(api, () => api.make(`/v1/invoices/${opening.id}/void`, {}));
      expect(voided).toEqual(returned);
    },
  );
});

test('a coupon with one redemption left discounts one of four invoices made at once', async ({
  api,
  money: _,
}) => {
  const { id } = await api.make('/v1/customers', { external_id: 'acme' });
  const coupon = await api.make('/v1/coupons', {
    name: 'Ten',
    coupon_code: 'TEN',
    type: 'percentage',
    percentage_off: '10',
    cadence: 'once',
    max_redemptions: 1,
  });
  const body = {
    customer_id: id,
    currency: 'usd',
    subtotal: '100',
    total: '100',
    amount_due: '100',
    line_items: [{ display_name: 'Work', amount: '100' }],
    coupons: ['TEN'],
  };
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => api.call('POST', '/v1/invoices', { body })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
  const made = answers.find(({ status }) => status === 201);
  expect(made?.body).toMatchObject({ total_discount: '10.00', total: '90.00' });
  const read = await api.call('GET', `/v1/coupons/${coupon.id}`);
  expect(read.body.total_redemptions).toBe(1);
  await expectRefused(
    (other) => api.call('POST', '/v1/invoices', { body: other }),
    [[body, /no redemptions left/]],
  );
});
