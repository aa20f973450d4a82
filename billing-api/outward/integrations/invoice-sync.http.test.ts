import { describe, expect } from 'vitest';
import { SYNC_ONE_INVOICE } from '../../jobs/sync-invoices.js';
import { billingRunner } from '../../testing/bill-environment.js';
import { makeInvoice, test as moneyTest, type Answer } from '../../testing/money-test.js';
import type { SimulatedInvoice } from '../../testing/simulated-invoices.js';
import { startStripeSimulator, type StripeSimulator } from '../../testing/stripe-simulator.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';

type Sync = {
  readonly stripe: StripeSimulator;
  readonly connection: Answer;
  readonly ask: (id: string, method: string) => Promise<Answer>;
  /** Asks, does it, and answers the workflow. */
  readonly through: (id: string, method: string) => Promise<Answer>;
  readonly work: () => Promise<void>;
  /** Lets the tries that wait be due. */
  readonly workLater: () => Promise<void>;
  readonly linkPayer: (invoice: Answer) => Promise<void>;
  readonly theirs: (id: string) => SimulatedInvoice;
};

const HOUR_MS = 3_600_000;

const test = moneyTest.extend<{ sync: Sync }>({
  sync: async ({ api, database, clickhouse, money }, use) => {
    expect(money).toBeDefined();
    const stripe = await startStripeSimulator();
    const { environment } = api;
    const connection = await api.make('/v1/connections', {
      name: 'Invoices',
      provider_type: 'stripe',
      endpoint_url: stripe.url,
      secrets: { secret_key: 'sk_test_example', webhook_secret: stripe.webhookSecret },
      sync_config: { direction: ['push', 'pull'] },
    });
    const engines = { database: database.database, clickHouse: clickhouse.client, environment };
    const runner = billingRunner(engines, [SYNC_ONE_INVOICE]);
    const ask = (id: string, method: string) =>
      api.call('POST', `/v1/integrations/invoices/${id}/sync`, {
        body: { connection_id: connection.id, method },
      });
    const work = async () => {
      await runner.runDue(Date.now());
    };
    await use({
      stripe,
      connection,
      ask,
      work,
      workLater: async () => {
        await runner.runDue(Date.now() + 5 * HOUR_MS);
      },
      through: async (id, method) => {
        const begun = await ask(id, method);
        expect([begun.status, begun.body.message]).toEqual([202, expect.stringMatching(method)]);
        await work();
        return (await api.call('GET', `/v1/workflows/${begun.body.workflow_id}`)).body;
      },
      linkPayer: async ({ customer_id: id }) => {
        await api.make('/v1/integrations/link', {
          entity_type: 'customer',
          entity_id: id,
          provider_type: 'stripe',
          provider_entity_id: `cus_${id}`,
        });
      },
      theirs: (id) => {
        const found = [...stripe.invoices.all.values()].filter(
          ({ metadata }) => metadata['invoice_id'] === id,
        );
        expect(found).toHaveLength(1);
        return found[0] as SimulatedInvoice;
      },
    });
    await stripe.close();
  },
});

const sent = ({ lines }: SimulatedInvoice) =>
  lines.map(({ description, amount }) => [description, amount]);

describe('an invoice that may be paid here and there', () => {
  test('is paid one way: not sent while a card is charged, and not charged after it was sent (PAY-3)', async ({
    api,
    due,
    money,
    sync,
  }) => {
    await sync.linkPayer(due);
    const card = {
      destination_type: 'INVOICE',
      destination_id: due.id,
      amount: '122',
      currency: 'usd',
      payment_method_type: 'CARD',
      payment_method_id: 'pm_1',
      process_payment: true,
    };
    const payment = await api.make('/v1/payments', card);
    const early = await sync.through(due.id, 'push');
    expect(early).toMatchObject({ status: 'Failed' });
    expect(JSON.stringify(early)).toMatch(/a payment of the invoice is in process/);
    expect(sync.theirs(due.id).status).toBe('draft');
    const failed = { body: { payment_status: 'FAILED' } };
    await api.call('PUT', `/v1/payments/${payment.id}`, failed);
    expect((await sync.through(due.id, 'push')).status).toBe('Completed');
    expect(sync.theirs(due.id).status).toBe('open');
    const link = { payment_method_type: 'PAYMENT_LINK', payment_gateway: 'stripe' };
    for (const other of [{}, { ...link, success_url: 'https://shop.example' }]) {
      const body = { ...card, ...other };
      const refused = await api.call('POST', '/v1/payments', { body });
      expect(refused.body.message).toMatch(/sent to stripe, where it is paid/);
    }
    const tried = await api.call('POST', `/v1/invoices/${due.id}/payment/attempt`);
    expect(tried.status).toBe(200);
    expect(await money.read(due.id)).toMatchObject({ payment_status: 'FAILED' });
    expect(sync.stripe.intents.size).toBe(0);
    const unlink = () =>
      api.call('DELETE', '/v1/integrations/link', {
        body: {
          entity_type: 'invoice',
          entity_id: due.id,
          provider_type: 'stripe',
          provider_entity_id: sync.theirs(due.id).id,
        },
      });
    const kept = await unlink();
    expect([kept.status, kept.body.message]).toEqual([
      400,
      expect.stringMatching(/is open at stripe; pull what is paid there, or void it there/),
    ]);
    sync.stripe.failNext = 10;
    expect((await unlink()).status).toBe(503);
    sync.stripe.failNext = 0;
    sync.theirs(due.id).status = 'void';
    expect((await unlink()).status).toBe(200);
  });
});

describe('a push of an invoice', () => {
  test('makes the provider one with the same lines and total, once', async ({ api, sync }) => {
    const customer = await api.make('/v1/customers', { external_id: 'buyer' });
    const coupon = { name: 'Tenth', type: 'percentage', percentage_off: '10', cadence: 'once' };
    const { coupon_code: code } = await api.make('/v1/coupons', { ...coupon, coupon_code: 'T10' });
    const tax = { name: 'VAT', code: 'vat', tax_rate_type: 'percentage', percentage_value: '20' };
    await api.make('/v1/taxes/rates', tax);
    const invoice = await api.make('/v1/invoices', {
      customer_id: customer.id,
      currency: 'usd',
      subtotal: '150',
      coupons: [code],
      total: '150',
      amount_due: '150',
      tax_rates: ['vat'],
      line_items: [
        { display_name: 'Work', amount: '100' },
        { display_name: 'Travel', amount: '50' },
      ],
    });
    expect(invoice.total).toBe('162.00');
    await sync.linkPayer(invoice);
    const done = await sync.through(invoice.id, 'push');
    const theirs = sync.theirs(invoice.id);
    expect(done).toMatchObject({
      status: 'Completed',
      workflow_type: 'invoice_push',
      entity_id: invoice.id,
      result: {
        method: 'push',
        invoice_id: invoice.id,
        provider_invoice_id: theirs.id,
        provider_status: 'open',
      },
    });
    expect(sent(theirs)).toEqual([
      ['Work', 10_000],
      ['Travel', 5_000],
      ['Discounts', -1_500],
      ['Tax', 2_700],
    ]);
    expect(theirs).toMatchObject({
      status: 'open',
      currency: 'usd',
      customer: `cus_${customer.id}`,
      daysUntilDue: 0,
      metadata: { invoice_id: invoice.id, invoice_number: invoice.invoice_number },
    });
    const links = await api.call('GET', `/v1/integrations/mappings?entity_id=${invoice.id}`);
    expect(links.body.items).toMatchObject([
      { entity_type: 'invoice', provider_type: 'stripe', provider_entity_id: theirs.id },
    ]);
    expect((await sync.through(invoice.id, 'push')).status).toBe('Completed');
    expect(sent(sync.theirs(invoice.id))).toHaveLength(4);
  });

  test('with more lines than the provider takes says the others in one', async ({ api, sync }) => {
    const customer = await api.make('/v1/customers', { external_id: 'large' });
    const line_items = Array.from({ length: 251 }, (_, index) => ({
      display_name: `Line ${index}`,
      amount: '1.01',
    }));
    const invoice = await api.make('/v1/invoices', {
      customer_id: customer.id,
      currency: 'usd',
      subtotal: '253.51',
      total: '253.51',
      amount_due: '253.51',
      line_items,
    });
    await sync.linkPayer(invoice);
    expect(await sync.through(invoice.id, 'push')).toMatchObject({ status: 'Completed' });
    const lines = sent(sync.theirs(invoice.id));
    expect(lines).toHaveLength(250);
    expect(lines.at(-1)).toEqual(['2 further lines', 202]);
    expect(lines.reduce((sum, [, amount]) => sum + Number(amount), 0)).toBe(25_351);
  });

  test('that is lost or fails at any step is done once in the end', async ({ api, sync }) => {
    const { stripe } = sync;
    for (const [place, losePath] of ['/invoices', '/add_lines', '/finalize'].entries()) {
      const invoice = await makeInvoice(api, `${place + 1}.00`);
      await sync.linkPayer(invoice);
      // The client asks again once by itself when a connection ends without an answer.
      Object.assign(stripe, { loseNext: 2, losePath });
      const begun = await sync.through(invoice.id, 'push');
      expect([losePath, begun.status]).toEqual([losePath, 'Running']);
      const again = await sync.ask(invoice.id, 'push');
      expect([again.status, again.body.workflow_id]).toEqual([202, begun.workflow_id]);
      await sync.workLater();
      const { body: done } = await api.call('GET', `/v1/workflows/${begun.workflow_id}`);
      expect([losePath, done.status, done.error]).toEqual([losePath, 'Completed', null]);
      expect(sync.theirs(invoice.id)).toMatchObject({ status: 'open' });
      expect(sent(sync.theirs(invoice.id))).toEqual([['Work', (place + 1) * 100]]);
    }
  });

  test('again tells what was credited, paid or voided here since', async ({ api, money, sync }) => {
    const invoice = await makeInvoice(api, '100.00');
    await sync.linkPayer(invoice);
    await sync.through(invoice.id, 'push');
    await api.make('/v1/creditnotes', {
      invoice_id: invoice.id,
      line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '30' }],
    });
    await sync.through(invoice.id, 'push');
    expect(sync.theirs(invoice.id)).toMatchObject({ status: 'open', credited: 3_000 });
    await money.pay(invoice.id, { amount: '70' });
    expect((await sync.through(invoice.id, 'push')).result.provider_status).toBe('paid');
    expect(sync.theirs(invoice.id)).toMatchObject({
      status: 'paid',
      isPaidOutOfBand: true,
      credited: 3_000,
      amountPaid: 7_000,
    });
    const other = await makeInvoice(api, '20.00');
    await sync.linkPayer(other);
    await sync.through(other.id, 'push');
    await api.call('POST', `/v1/invoices/${other.id}/void`, { body: {} });
    expect((await sync.through(other.id, 'push')).result.provider_status).toBe('void');
    expect(sync.theirs(other.id).status).toBe('void');
  });

  test('asks for what is left of it, also where money comes here after it was sent', async ({
    api,
    due,
    money,
    sync,
  }) => {
    await sync.linkPayer(due);
    await money.pay(due.id, { amount: '40' });
    expect((await sync.through(due.id, 'push')).status).toBe('Completed');
    expect(sent(sync.theirs(due.id))).toEqual([
      ['Work', 12_200],
      ['Paid already', -4_000],
    ]);
    await money.pay(due.id, { amount: '2' });
    for (const method of ['push', 'push']) {
      expect((await sync.through(due.id, method)).status).toBe('Completed');
      expect(sync.theirs(due.id)).toMatchObject({ status: 'open', credited: 200 });
    }
    sync.stripe.invoices.pay(sync.theirs(due.id).id, 8_000);
    await sync.through(due.id, 'pull');
    const paid = { payment_status: 'SUCCEEDED', amount_paid: '122.00', overpaid_amount: '0.00' };
    expect(await money.read(due.id)).toMatchObject(paid);
    const bounced = await makeInvoice(api, '90.00');
    await sync.linkPayer(bounced);
    await money.pay(bounced.id, { amount: '30' });
    await sync.through(bounced.id, 'push');
    const { body: payments } = await api.call('GET', `/v1/payments?destination_id=${bounced.id}`);
    const body = { payment_status: 'VOIDED' };
    await api.call('PUT', `/v1/payments/${payments.items[0].id}`, { body });
    const failed = await sync.through(bounced.id, 'push');
    expect([failed.status, JSON.stringify(failed.error)]).toEqual([
      'Failed',
      expect.stringMatching(/asks for 30.00 less than is left here/),
    ]);
  });

  test('replaces lines that somebody else put on the draft there', async ({ api, sync }) => {
    const invoice = await makeInvoice(api, '10.00');
    await sync.linkPayer(invoice);
    Object.assign(sync.stripe, { loseNext: 2, losePath: '/add_lines' });
    const begun = await sync.through(invoice.id, 'push');
    sync.theirs(invoice.id).lines.push({ id: 'il_x', amount: 1, description: 'Fee of theirs' });
    await sync.workLater();
    const { body: done } = await api.call('GET', `/v1/workflows/${begun.workflow_id}`);
    expect(done).toMatchObject({ status: 'Completed' });
    expect(sent(sync.theirs(invoice.id))).toEqual([['Work', 1_000]]);
  });
});

describe('a pull of an invoice', () => {
  test('takes over what is paid at the provider, never less, and its PDF', async ({
    api,
    due,
    money,
    sync,
  }) => {
    await sync.linkPayer(due);
    await sync.through(due.id, 'push');
    const { id } = sync.theirs(due.id);
    sync.stripe.invoices.pay(id, 10_000);
    const done = await sync.through(due.id, 'pull');
    expect(done.result).toMatchObject({ method: 'pull', provider_status: 'open' });
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'PENDING',
      amount_paid: '100.00',
      amount_remaining: '22.00',
      invoice_pdf_url: `https://pay.example/${id}.pdf`,
      total: '122.00',
    });
    await sync.through(due.id, 'pull');
    expect(await money.read(due.id)).toMatchObject({ amount_paid: '100.00' });
    sync.stripe.invoices.pay(id, 2_200);
    await sync.through(due.id, 'pull');
    expect(await money.read(due.id)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '122.00',
      amount_remaining: '0.00',
    });
    const { body: payments } = await api.call('GET', `/v1/payments?destination_id=${due.id}`);
    expect(payments.items.map(({ amount }: Answer) => amount).sort()).toEqual(['100.00', '22.00']);
    expect(payments.items).toMatchObject([
      { payment_method_type: 'OFFLINE', payment_gateway: 'stripe', gateway_payment_id: id },
      { payment_method_type: 'OFFLINE', payment_gateway: 'stripe', gateway_payment_id: id },
    ]);
  });

  test('adds what was paid there to what was paid here, once, and what is too much', async ({
    api,
    money,
    sync,
  }) => {
    const both = await makeInvoice(api, '50.00');
    await sync.linkPayer(both);
    await sync.through(both.id, 'push');
    await money.pay(both.id, { amount: '40' });
    sync.stripe.invoices.pay(sync.theirs(both.id).id, 1_000);
    const paid = { payment_status: 'SUCCEEDED', amount_paid: '50.00', overpaid_amount: '0.00' };
    // The push tells there that the rest was paid here, which no pull counts again.
    for (const method of ['pull', 'pull', 'push', 'pull']) {
      expect(await sync.through(both.id, method)).toMatchObject({ status: 'Completed' });
      expect(await money.read(both.id)).toMatchObject(paid);
    }
    expect(sync.theirs(both.id)).toMatchObject({ amountPaid: 5_000, paidElsewhere: 4_000 });
    const twice = await makeInvoice(api, '60.00');
    await sync.linkPayer(twice);
    await sync.through(twice.id, 'push');
    await money.pay(twice.id, { amount: '45' });
    sync.stripe.invoices.pay(sync.theirs(twice.id).id, 6_000);
    for (const method of ['pull', 'pull']) {
      await sync.through(twice.id, method);
      expect(await money.read(twice.id)).toMatchObject({
        payment_status: 'OVERPAID',
        amount_paid: '105.00',
        overpaid_amount: '45.00',
      });
    }
    const elsewhere = await makeInvoice(api, '70.00');
    await sync.linkPayer(elsewhere);
    await sync.through(elsewhere.id, 'push');
    await money.pay(elsewhere.id, { amount: '20' });
    // Somebody notes there what came by a transfer: those 20.00, and 50.00 more.
    Object.assign(sync.theirs(elsewhere.id), {
      status: 'paid',
      amountPaid: 7_000,
      paidElsewhere: 7_000,
    });
    for (const method of ['pull', 'pull']) {
      await sync.through(elsewhere.id, method);
      expect(await money.read(elsewhere.id)).toMatchObject({
        payment_status: 'SUCCEEDED',
        amount_paid: '70.00',
      });
    }
  });
});

describe('POST /integrations/invoices/{invoice_id}/sync', () => {
  test('refuses what cannot be synced, and says what to do', async ({ api, due, sync }) => {
    const refused = async (id: string, method: string, message: RegExp) => {
      const { status, body } = await sync.ask(id, method);
      expect([message, status, body.message]).toEqual([
        message,
        400,
        expect.stringMatching(message),
      ]);
    };
    await refused(due.id, 'push', /customer .* not linked .*integrations\/link/);
    await sync.linkPayer(due);
    await refused(due.id, 'pull', /not linked to one of stripe; push it/);
    expect((await sync.ask('inv_none', 'push')).status).toBe(404);
    const path = `/v1/integrations/invoices/${due.id}/sync`;
    const unknown = { connection_id: 'conn_none', method: 'push' };
    expect((await api.call('POST', path, { body: unknown })).status).toBe(404);
    const lake = await api.make('/v1/connections', {
      name: 'Lake',
      provider_type: 's3',
      secrets: { access_key_id: 'example', secret_access_key: 'example' },
    });
    const store = { connection_id: lake.id, method: 'push' };
    expect((await api.call('POST', path, { body: store })).body.message).toMatch(/not configured/);
    const config = { sync_config: { direction: ['pull'] } };
    const connection = `/v1/connections/${sync.connection.id}`;
    const changed = await api.call('PUT', connection, { body: config });
    expect([changed.status, changed.body.sync_config]).toEqual([200, { direction: ['pull'] }]);
    await refused(due.id, 'push', /not configured to push/);
    const odd = await api.call('PUT', `/v1/connections/${lake.id}`, { body: config });
    expect([odd.status, Object.keys(odd.body.details)]).toEqual([400, ['sync_config']]);
  });

  test('happens by itself for invoices that wait when a signal activates their subscription', async ({
    api,
    sync,
  }) => {
    const { subscription } = await subscribeMonthly(api, { payment_behavior: 'allow_incomplete' });
    expect(subscription.subscription_status).toBe('incomplete');
    const { items } = await api.make('/v1/invoices/search', { subscription_id: subscription.id });
    const [invoice] = items;
    await sync.linkPayer(invoice);
    await sync.through(invoice.id, 'push');
    const theirs = sync.theirs(invoice.id);
    sync.stripe.invoices.pay(
      theirs.id,
      theirs.lines.reduce((sum, { amount }) => sum + amount, 0),
    );
    await api.call('POST', '/v1/integrations/signals/subscription', {
      body: { signal_id: 'evt_1', state: 'active', subscription_id: subscription.id },
    });
    const { body: workflows } = await api.call('POST', '/v1/workflows/search', {
      body: { entity_id: invoice.id, workflow_type: 'invoice_pull' },
    });
    expect(workflows.items).toMatchObject([{ status: 'Running' }]);
    await sync.work();
    expect((await api.call('GET', `/v1/invoices/${invoice.id}`)).body).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_remaining: '0.00',
    });
  });
});
