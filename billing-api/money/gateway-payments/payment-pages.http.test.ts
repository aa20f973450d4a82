import { describe, expect } from 'vitest';
import { billUntil } from '../../testing/bill-environment.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { cardOf, test as gatewayTest, type Gateway } from '../../testing/gateway-test.js';
import { expectRefused, makeInvoice, type Answer } from '../../testing/money-test.js';
import type { SimulatedPage } from '../../testing/simulated-pages.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';

const ADDRESSES = { success_url: 'https://shop.example/done', cancel_url: 'https://shop.example' };

const linkOf = ({ id, amount_due: amount }: Answer, differing: object = {}) => ({
  destination_type: 'INVOICE',
  destination_id: id,
  amount,
  currency: 'usd',
  payment_method_type: 'PAYMENT_LINK',
  payment_gateway: 'stripe',
  process_payment: true,
  ...ADDRESSES,
  ...differing,
});

type Pages = {
  /** A payment whose page is open. */
  readonly open: (invoice: Answer, differing?: object) => Promise<Answer>;
  readonly read: (payment: Answer) => Promise<Answer>;
  /** The page of a payment at the gateway. */
  readonly of: (payment: Answer) => SimulatedPage;
  /** Tells what became of a page. */
  readonly tell: (page: SimulatedPage, what: string) => Promise<Answer>;
};

async function readPayment(api: BillingUnderTest, { id }: Answer): Promise<Answer> {
  return (await api.call('GET', `/v1/payments/${id}`)).body;
}

const test = gatewayTest.extend<{ pages: Pages }>({
  pages: async ({ api, gateway }, use) => {
    const { stripe } = gateway;
    await use({
      open: async (invoice, differing) => {
        const payment = await api.make('/v1/payments', linkOf(invoice, differing));
        await gateway.take();
        return readPayment(api, payment);
      },
      read: (payment) => readPayment(api, payment),
      of: ({ id }) => {
        const page = [...stripe.pages.all.values()].find(
          ({ metadata }) => metadata['payment_id'] === id,
        );
        if (page === undefined) throw new Error('no page was opened');
        return page;
      },
      tell: (page, what) => gateway.signal(stripe.pageEvent(page, `checkout.session.${what}`)),
    });
    await expectBalancedBooks(api);
  },
});

/** How often money was taken for an invoice, by charges and pages. */
const takenOf = ({ stripe }: Gateway): number =>
  [...stripe.intents.values()].reduce((sum, { captures }) => sum + captures, 0) +
  [...stripe.pages.all.values()].filter(({ isPaid }) => isPaid).length;

describe('a page of the gateway', () => {
  test('shows its address, leaves the invoice as it is until it is paid, and counts once', async ({
    api,
    due,
    gateway,
    money,
    pages,
  }) => {
    const asked = await api.make('/v1/payments', linkOf(due));
    expect(asked).toMatchObject({ payment_status: 'PENDING', payment_url: null });
    await gateway.take();
    await gateway.take();
    const page = pages.of(asked);
    expect(await pages.read(asked)).toMatchObject({
      payment_status: 'PENDING',
      payment_url: `https://pay.example/${page.id}`,
    });
    expect(page).toMatchObject({
      amount: 12200,
      currency: 'usd',
      successUrl: ADDRESSES.success_url,
      cancelUrl: ADDRESSES.cancel_url,
      metadata: { payment_id: asked.id, invoice_id: due.id },
    });
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'PENDING' });
    const removal = await api.call('DELETE', `/v1/connections/${gateway.connection.id}`);
    expect(removal.body.message).toMatch(/payments in process/);
    gateway.stripe.pages.pay(page);
    const effects = [];
    for (let times = 0; times < 3; times += 1) {
      effects.push((await pages.tell(page, 'completed')).body.effect);
    }
    expect(effects).toEqual(['applied', 'applied', 'applied']);
    expect(await pages.read(asked)).toMatchObject({
      payment_status: 'SUCCEEDED',
      payment_url: null,
      gateway_payment_id: `pi of ${page.id}`,
    });
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '122.00',
      amount_remaining: '0.00',
    });
    const events = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body.items;
    const told = events
      .map(({ event_name: name }: Answer) => name)
      .filter((name: string) => name.startsWith('payment.'));
    expect(told).toEqual(['payment.created', 'payment.updated', 'payment.success']);
    // What is given back there is of the charge that the page has led to.
    const refunded = gateway.stripe.event('charge.refunded', {
      id: 'ch_1',
      object: 'charge',
      payment_intent: `pi of ${page.id}`,
      currency: 'usd',
      amount: 12200,
      amount_captured: 12200,
      amount_refunded: 2200,
    });
    expect((await gateway.signal(refunded)).body).toEqual({ effect: 'applied' });
    expect(await money.read(due.id)).toMatchObject({ refunded_amount: '22.00' });
  });

  test('is closed by what expires or is over, and the invoice stays to be paid', async ({
    api,
    due,
    gateway,
    money,
    pages,
  }) => {
    const first = await pages.open(due);
    pages.of(first).status = 'expired';
    await pages.tell(pages.of(first), 'expired');
    expect(await pages.read(first)).toMatchObject({
      payment_status: 'FAILED',
      payment_url: null,
      error_message: 'the page was closed before anything was paid',
    });
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'PENDING' });
    const second = await pages.open(due);
    expect(second.id).not.toBe(first.id);
    // What is paid elsewhere leaves less than the page would take.
    await money.pay(due.id, { amount: '22' });
    await gateway.take();
    expect([pages.of(second).status, (await pages.read(second)).payment_url]).toEqual([
      'expired',
      null,
    ]);
    const third = await pages.open(due, { amount: '100' });
    await api.call('PUT', `/v1/payments/${third.id}`, { body: { payment_status: 'FAILED' } });
    await gateway.take();
    expect(pages.of(third).status).toBe('expired');
    const fourth = await pages.open(due, { amount: '100' });
    await api.call('POST', `/v1/invoices/${due.id}/void`, { body: {} });
    // Faster than the job that closes it.
    expect(gateway.stripe.pages.pay(pages.of(fourth))).toBe(true);
    await gateway.take();
    expect(await pages.read(fourth)).toMatchObject({
      destination_type: 'CUSTOMER',
      payment_status: 'SUCCEEDED',
      amount: '100.00',
    });
    const { items } = await api.make('/v1/wallets/search', { customer_ids: [due.customer_id] });
    expect(items).toMatchObject([{ balance: '122' }]);
  });

  test('gives way to another one of the invoice, and to a charge: money is taken once (PAY-3)', async ({
    api,
    due,
    gateway,
    money,
    pages,
  }) => {
    const first = await pages.open(due, { idempotency_key: 'first' });
    const second = await pages.open(due, { idempotency_key: 'second' });
    expect([pages.of(first).status, pages.of(second).status]).toEqual(['expired', 'open']);
    await gateway.pay(due);
    expect(gateway.stripe.pages.pay(pages.of(second))).toBe(false);
    expect([takenOf(gateway), (await money.read(due.id)).amount_paid]).toEqual([1, '122.00']);
    const late = await api.call('POST', '/v1/payments', { body: linkOf(due) });
    expect(late.body.message).toMatch(/nothing is left to pay/);
  });

  test.for([
    ['before anything was prepared', 0],
    ['though its answer is lost', 2],
  ] as const)(
    'that was paid first keeps the charge from being carried out, %s (PAY-3)',
    async ([, lost], { api, due, gateway, money, pages }) => {
      const link = await pages.open(due);
      const card = await api.make('/v1/payments', cardOf(due));
      gateway.stripe.pages.pay(pages.of(link));
      Object.assign(gateway.stripe, { loseNext: lost, losePath: '/expire' });
      if (lost > 0) await expect(gateway.tryOnce(card)).rejects.toThrow(/Stripe did not answer/);
      await gateway.tryOnce(card);
      await gateway.tryOnce(card);
      expect(await pages.read(card)).toMatchObject({
        payment_status: 'FAILED',
        error_message: 'the invoice was paid by a page meanwhile',
      });
      await pages.tell(pages.of(link), 'completed');
      expect([takenOf(gateway), gateway.stripe.intents.size]).toEqual([1, 0]);
      expect(await money.read(due.id)).toMatchObject({
        payment_status: 'SUCCEEDED',
        amount_paid: '122.00',
      });
    },
  );

  test('is not opened while a charge of the invoice is in process (PAY-3)', async ({
    api,
    due,
    gateway,
    pages,
  }) => {
    // Asked for first, and served after the charge has begun.
    const link = await api.make('/v1/payments', linkOf(due));
    const card = await api.make('/v1/payments', cardOf(due, { payment_method_id: 'pm_slow' }));
    await gateway.tryOnce(card);
    await gateway.tryOnce(link);
    expect(await pages.read(link)).toMatchObject({
      payment_status: 'FAILED',
      payment_url: null,
      error_message: 'another payment of the invoice is in process; wait for its outcome',
    });
    expect(pages.of(link).status).toBe('expired');
    const body = linkOf(due, { idempotency_key: 'later' });
    const refused = await api.call('POST', '/v1/payments', { body });
    expect(refused.body.message).toMatch(/another payment of the invoice is in process/);
  });

  test('whose money is on its way keeps others from being taken, until it has come or not', async ({
    due,
    gateway,
    money,
    pages,
  }) => {
    const link = await pages.open(due);
    const page = pages.of(link);
    gateway.stripe.pages.pay(page, false);
    await pages.tell(page, 'completed');
    expect(await pages.read(link)).toMatchObject({ payment_status: 'PROCESSING' });
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'PROCESSING' });
    // Less is left than the page has taken: that is no reason to give it up.
    await money.pay(due.id, { amount: '22' });
    await gateway.tryOnce(link);
    expect(await pages.read(link)).toMatchObject({ payment_status: 'PROCESSING' });
    await pages.tell(page, 'async_payment_failed');
    expect(await pages.read(link)).toMatchObject({ payment_status: 'FAILED' });
    page.isPaid = true;
    await pages.tell(page, 'async_payment_succeeded');
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'OVERPAID',
      amount_paid: '144.00',
      overpaid_amount: '22.00',
    });
  });

  test('counts by its charge where that is told first, with what was given back', async ({
    due,
    gateway,
    money,
    pages,
  }) => {
    const link = await pages.open(due);
    const page = pages.of(link);
    gateway.stripe.pages.pay(page);
    const refunded = gateway.stripe.event('charge.refunded', {
      id: 'ch_1',
      object: 'charge',
      payment_intent: `pi of ${page.id}`,
      currency: 'usd',
      amount: 12200,
      amount_captured: 12200,
      amount_refunded: 2200,
      metadata: page.metadata,
    });
    const declined = { id: `pi of ${page.id}`, object: 'payment_intent', currency: 'usd' };
    const failed = gateway.stripe.event('payment_intent.payment_failed', {
      ...declined,
      status: 'requires_payment_method',
      metadata: page.metadata,
    });
    // A card that was declined on the page: the payer tries another one there.
    expect((await gateway.signal(failed)).body).toEqual({ effect: 'ignored' });
    expect(await pages.read(link)).toMatchObject({ payment_status: 'PENDING' });
    expect((await gateway.signal(refunded)).body).toEqual({ effect: 'applied' });
    await pages.tell(page, 'completed');
    expect(await pages.read(link)).toMatchObject({
      payment_status: 'PARTIALLY_REFUNDED',
      payment_url: null,
      refunded_amount: '22.00',
      gateway_payment_id: `pi of ${page.id}`,
    });
    expect(await money.read(due.id)).toMatchObject({
      amount_paid: '122.00',
      refunded_amount: '22.00',
    });
  });

  test('that was paid counts also where nobody tells of it, and so does what the bank takes back', async ({
    due,
    gateway,
    money,
    pages,
  }) => {
    const link = await pages.open(due);
    await gateway.look(2);
    expect((await pages.read(link)).payment_url).not.toBeNull();
    gateway.stripe.pages.pay(pages.of(link));
    gateway.stripe.event('charge.dispute.funds_withdrawn', {
      id: 'dp_1',
      object: 'dispute',
      charge: 'ch_1',
      amount: 5000,
      currency: 'usd',
      payment_intent: `pi of ${pages.of(link).id}`,
    });
    for (let times = 0; times < 2; times += 1) {
      await gateway.look(3);
      expect(await pages.read(link)).toMatchObject({ amount: '122.00', payment_url: null });
      expect(await money.read(due.id)).toMatchObject({
        amount_paid: '122.00',
        refunded_amount: '50.00',
      });
    }
  });

  test('that was paid keeps a subscription from being cancelled as overdue', async ({
    api,
    database,
    clickhouse,
    gateway,
    money,
    pages,
  }) => {
    const { environment } = api;
    const world = { database: database.database, clickHouse: clickhouse.client, environment };
    const value = { enabled: true, grace_period_days: 3 };
    await api.call('PUT', '/v1/settings/subscription_auto_cancel', { body: { value } });
    await billUntil(world, '2026-10-01T00:00:00Z');
    const { subscription } = await subscribeMonthly(api);
    const link = await pages.open(subscription.latest_invoice);
    gateway.stripe.pages.pay(pages.of(link));
    await billUntil(world, '2026-10-25T00:00:00Z');
    expect(await money.read(subscription.latest_invoice.id)).toMatchObject({
      payment_status: 'SUCCEEDED',
    });
    const { body: kept } = await api.call('GET', `/v1/subscriptions/${subscription.id}`);
    expect(kept.subscription_status).toBe('active');
  });

  test('is opened once when answers are lost, and for money of a customer as well', async ({
    api,
    gateway,
    pages,
  }) => {
    const { id } = await api.make('/v1/customers', { external_id: 'acme' });
    const payment = await api.make('/v1/payments', {
      ...linkOf({ id, amount_due: '40' }, { destination_type: 'CUSTOMER' }),
    });
    Object.assign(gateway.stripe, { loseNext: 2, losePath: '/sessions' });
    await expect(gateway.tryOnce(payment)).rejects.toThrow(/Stripe did not answer/);
    await gateway.tryOnce(payment);
    expect(gateway.stripe.pages.all.size).toBe(1);
    gateway.stripe.pages.pay(pages.of(payment));
    await pages.tell(pages.of(payment), 'completed');
    const { items } = await api.make('/v1/wallets/search', { customer_ids: [id] });
    expect(items).toMatchObject([{ balance: '40' }]);
  });

  test('needs its addresses and an amount that is left, and saves no card', async ({
    api,
    due,
    gateway: _,
  }) => {
    await expectRefused(
      (body) => api.call('POST', '/v1/payments', { body }),
      [
        [linkOf(due, { success_url: undefined }), /success_url: is required/],
        [linkOf(due, { success_url: 'done' }), /success_url: must be an http/],
        [linkOf(due, { cancel_url: 'javascript:1' }), /cancel_url: must be an http/],
        [cardOf(due, ADDRESSES), /success_url: goes with PAYMENT_LINK/],
        [linkOf(due, { save_card_and_make_default: true }), /save_card_and_make_default/],
        [linkOf(due, { amount: '122.01' }), /122 of the invoice is left/],
        [linkOf(due, { payment_gateway: 'other' }), /no gateway is configured/],
      ],
    );
    expect((await api.call('GET', '/v1/payments')).body.items).toEqual([]);
  });

  test('of an invoice that is charged automatically stands in for no try: retries go on and close it (PAY-3)', async ({
    api,
    database,
    clickhouse,
    gateway,
    money,
    pages,
  }) => {
    const { environment } = api;
    const world = { database: database.database, clickHouse: clickhouse.client, environment };
    const at = async (instant: string) => {
      await billUntil(world, instant);
      await gateway.take();
    };
    await at('2026-10-01T00:00:00Z');
    const { subscription } = await subscribeMonthly(api, {
      collection_method: 'charge_automatically',
      gateway_payment_method_id: 'pm_card_chargeDeclined',
    });
    await gateway.take();
    const { latest_invoice: opening } = subscription;
    expect(await money.read(opening.id)).toMatchObject({ payment_status: 'FAILED' });
    const link = await pages.open(opening);
    expect(link.payment_url).not.toBeNull();
    const path = `/v1/subscriptions/${subscription.id}`;
    await api.call('PUT', path, { body: { gateway_payment_method_id: 'pm_card_visa' } });
    await at('2026-10-04T00:00:00Z');
    expect(pages.of(link).status).toBe('expired');
    expect(takenOf(gateway)).toBe(1);
    expect(await money.read(opening.id)).toMatchObject({ payment_status: 'SUCCEEDED' });
  });
});

describe('a currency that the gateway takes in steps of 10', () => {
  test('is charged rounded down by card and page, and what is too little is written off', async ({
    api,
    gateway,
    money,
    pages,
  }) => {
    const inFils = { currency: 'kwd' };
    const first = await makeInvoice(api, '12.345', 'kwd');
    await gateway.pay(first, inFils);
    expect(gateway.charge()).toMatchObject({ amount: 12_340, currency: 'kwd' });
    const second = await makeInvoice(api, '8.009', 'kwd');
    const link = await pages.open(second, inFils);
    expect(pages.of(link).amount).toBe(8_000);
    gateway.stripe.pages.pay(pages.of(link));
    await pages.tell(pages.of(link), 'completed');
    for (const { id, amount_due: due } of [first, second]) {
      expect(await money.read(id)).toMatchObject({
        payment_status: 'SUCCEEDED',
        amount_paid: due,
        amount_remaining: '0.000',
      });
    }
    const balances = async () => {
      const { body } = await api.call('GET', '/v1/ledger/balances?currency=kwd');
      const texts = body.items.map((one: Answer) => `${one.account} ${one.balance}`);
      return texts.filter((text: string) => /^(payments|receivable|write_off)/.test(text)).sort();
    };
    expect(await balances()).toEqual([
      'payments 12.34',
      'payments 8',
      'receivable 0',
      'receivable 0',
      'write_off 0.005',
      'write_off 0.009',
    ]);
    // All of a payment that did not hold is undone, also what was not received.
    const body = { payment_status: 'VOIDED' };
    expect((await api.call('PUT', `/v1/payments/${link.id}`, { body })).status).toBe(200);
    expect(await balances()).toEqual([
      'payments 0',
      'payments 12.34',
      'receivable 0',
      'receivable 8.009',
      'write_off 0',
      'write_off 0.005',
    ]);
  });
});

describe('the key of a gateway', () => {
  test('may be replaced by one of the same account while a payment is in process, by no other', async ({
    api,
    due,
    gateway,
  }) => {
    const bySlowBank = { payment_method_id: 'pm_slow' };
    const path = `/v1/connections/${gateway.connection.id}`;
    const put = (key: string) =>
      api.call('PUT', path, { body: { secrets: { secret_key: key, webhook_secret: 'whsec_2' } } });
    expect((await put('sk_test_before')).status).toBe(200);
    const payment = await api.make('/v1/payments', cardOf(due, bySlowBank));
    const early = await put('sk_test_early');
    expect([early.status, Object.keys(early.body.details)]).toEqual([400, ['secrets.secret_key']]);
    await gateway.take();
    expect((await put('sk_test_rolled')).status).toBe(200);
    const charges = new Map(gateway.stripe.intents);
    gateway.stripe.intents.clear();
    const other = await put('sk_test_other_account');
    expect([other.status, other.body.message]).toEqual([
      400,
      expect.stringMatching(/does not know a payment in process .*key of the same account/),
    ]);
    expect((await put('sk_test_rolled')).status).toBe(200);
    charges.forEach((charge, id) => gateway.stripe.intents.set(id, charge));
    await gateway.tryOnce(payment);
    expect(gateway.charge().status).toBe('processing');
  });
});

describe('a look at the gateway', () => {
  test('finds what was taken and given back where signals were lost, and takes what was parked', async ({
    api,
    due,
    gateway,
    money,
  }) => {
    await gateway.pay(due, { payment_method_id: 'pm_slow' });
    gateway.carryOut();
    await gateway.look(0.5);
    // An hour is given to what is told late.
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'PROCESSING' });
    await gateway.look(2);
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '122.00',
    });
    const lost = gateway.stripe.event('charge.refunded', {
      id: 'ch_1',
      object: 'charge',
      payment_intent: 'pi_1',
      currency: 'usd',
      metadata: {},
      amount: 12200,
      amount_captured: 12200,
      amount_refunded: 7200,
    });
    for (let times = 0; times < 2; times += 1) {
      await gateway.look(2);
      expect(await money.read(due.id)).toMatchObject({ refunded_amount: '72.00' });
    }
    expect((await gateway.signal(lost)).body).toEqual({ effect: 'repeated' });
    const other = await makeInvoice(api, '80.00');
    Object.assign(gateway.stripe, { failNext: 1_000 });
    const payment = await api.make('/v1/payments', cardOf(other));
    await gateway.wait(12);
    const { body: parked } = await api.call('GET', '/v1/jobs?status=parked');
    expect(parked.items).toMatchObject([{ job: 'take-payment', key: payment.id }]);
    gateway.stripe.failNext = 0;
    await gateway.look(13);
    expect(await money.read(other.id)).toMatchObject({ payment_status: 'SUCCEEDED' });
    expect((await api.call('GET', '/v1/jobs')).body.items).toEqual([]);
  });
});
