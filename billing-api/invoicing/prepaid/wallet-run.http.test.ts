import { describe, expect } from 'vitest';
import { makeInvoice, test, type Answer } from '../../testing/money-test.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';
import {
  FREE,
  invoiceOf,
  makeWallet,
  readWallet,
  topUp,
  transactionsOf,
} from '../../testing/wallet-calls.js';

describe('the run of an environment', () => {
  test('takes credits that have expired, but not before they have paid their period', async ({
    api,
    bill,
    money: _,
  }) => {
    await subscribeMonthly(api);
    // The invoice of the month before.
    await bill('2026-11-02T00:00:00.000Z');
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '150',
      config: { allowed_price_types: ['ALL'] },
      initial_credits_expiry_date_utc: '2026-12-01T00:00:00.000Z',
    });
    await bill('2026-12-01T00:30:00.000Z');
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '150' });
    await bill('2026-12-01T04:00:00.000Z');
    // 100 in arrear and 30 in advance, two hours after the credits have expired.
    const [expired, ...others] = await transactionsOf(api, wallet);
    expect(expired).toMatchObject({ transaction_reason: 'CREDIT_EXPIRED' });
    expect(others.map((one: Answer) => one.transaction_reason)).toContain('CREDIT_ADJUSTMENT');
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '0' });
  });

  test('tells of an overdue invoice once', async ({ api, bill, money }) => {
    const invoice = await makeInvoice(api, '10');
    await api.call('PUT', `/v1/invoices/${invoice.id}`, {
      body: { due_date: '2298-01-01T00:00:00Z' },
    });
    for (const at of ['2298-01-01T00:00:00.001Z', '2298-02-01T00:00:00Z']) await bill(at);
    const events = await api.call('GET', '/v1/webhooks/events?limit=1000');
    const overdue = events.body.items.filter(
      (event: Answer) => event.event_name === 'invoice.payment.overdue',
    );
    expect(overdue).toHaveLength(1);
    expect(overdue[0].payload.invoice).toMatchObject({ id: invoice.id, amount_remaining: '10.00' });
    await money.pay(invoice.id, { payment_status: 'SUCCEEDED' });
  });

  test('gives the credits of grants, each once, and catches up', async ({
    api,
    bill,
    money: _,
  }) => {
    const { subscription } = await subscribeMonthly(api);
    await api.make('/v1/creditgrants', {
      name: 'Monthly',
      scope: 'SUBSCRIPTION',
      subscription_id: subscription.id,
      credits: '5',
      cadence: 'RECURRING',
      period: 'MONTHLY',
      period_count: 1,
      start_date: '2026-10-15T00:00:00.000Z',
      end_date: '2027-01-15T00:00:00.000Z',
    });
    await api.make('/v1/creditgrants', {
      name: 'Once',
      scope: 'SUBSCRIPTION',
      subscription_id: subscription.id,
      credits: '7',
      cadence: 'ONETIME',
      start_date: '2026-10-20T00:00:00.000Z',
    });
    for (const at of ['2026-12-20T00:00:00.000Z', '2026-12-21T00:00:00.000Z']) await bill(at);
    const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
    expect(items).toHaveLength(1);
    const granted = (await transactionsOf(api, items[0])).filter(
      (one: Answer) => one.transaction_reason === 'SUBSCRIPTION_CREDIT_GRANT',
    );
    expect(granted.map((one: Answer) => one.credit_amount).sort()).toEqual(['5', '5', '5', '7']);
    await bill('2027-06-01T00:00:00.000Z');
    expect(
      (await transactionsOf(api, items[0])).filter(
        (one: Answer) => one.transaction_reason === 'SUBSCRIPTION_CREDIT_GRANT',
      ),
    ).toHaveLength(4);
  });
});

test('credits of a grant that last as long as a period end with the one that they are of, also late', async ({
  api,
  bill,
  money: _,
}) => {
  const { subscription } = await subscribeMonthly(api);
  await api.make('/v1/creditgrants', {
    name: 'Monthly',
    scope: 'SUBSCRIPTION',
    subscription_id: subscription.id,
    credits: '5',
    cadence: 'RECURRING',
    period: 'MONTHLY',
    period_count: 1,
    start_date: '2026-10-15T00:00:00.000Z',
    expiration_type: 'BILLING_CYCLE',
  });
  await bill('2026-12-20T00:00:00.000Z');
  const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
  const granted = (await transactionsOf(api, items[0])).filter(
    (one: Answer) => one.transaction_reason === 'SUBSCRIPTION_CREDIT_GRANT',
  );
  expect(granted.map((one: Answer) => one.expiry_date).sort()).toEqual([
    '2026-11-01T00:00:00.000Z',
    '2026-12-01T00:00:00.000Z',
    '2027-01-01T00:00:00.000Z',
  ]);
});

describe('the alert of a wallet', () => {
  test('is told when its balance reaches another level, down and up, and not before', async ({
    api,
    money: _,
  }) => {
    const level = (threshold: number) => ({ condition: 'below', threshold });
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '100',
      alert_settings: { critical: level(10), warning: level(20) },
    });
    const debit = (credits: string) =>
      api.call('POST', `/v1/wallets/${wallet.id}/debit`, {
        body: { credits, idempotency_key: credits },
      });
    for (const credits of ['79', '1', '2', '9']) await debit(credits);
    await topUp(api, wallet, { ...FREE, credits_to_add: '50' });
    const { body } = await api.call('GET', '/v1/webhooks/events?limit=1000');
    const told = body.items
      .filter((event: Answer) => event.event_name.startsWith('wallet.credit_balance.'))
      .map(({ event_name: name, payload }: Answer) => [
        name,
        payload.alert.state,
        payload.alert.credit_balance,
        payload.wallet.id,
      ]);
    expect(told.reverse().sort((left: Answer, right: Answer) => right[2] - left[2])).toEqual([
      ['wallet.credit_balance.recovered', 'ok', '59', wallet.id],
      ['wallet.credit_balance.dropped', 'warning', '20', wallet.id],
      ['wallet.credit_balance.dropped', 'in_alarm', '9', wallet.id],
    ]);
    expect(await readWallet(api, wallet)).toMatchObject({ alert_state: 'ok' });
  });
});

describe('a wallet that runs low', () => {
  const auto = { enabled: true, threshold: '20', amount: '50' };

  test('is topped up by one invoice until that is paid', async ({ api, bill, money }) => {
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '30',
      auto_topup: { ...auto, invoicing: true },
    });
    await bill('2027-01-01T00:00:00Z');
    expect(await transactionsOf(api, wallet)).toHaveLength(1);
    const body = { credits: '10', idempotency_key: 'k' };
    await api.call('POST', `/v1/wallets/${wallet.id}/debit`, { body });
    for (const at of ['2027-01-02T00:00:00Z', '2027-01-03T00:00:00Z']) await bill(at);
    const found = { customer_id: wallet.customer_id, billing_reason: 'WALLET_AUTO_TOPUP' };
    const { items } = await api.make('/v1/invoices/search', found);
    expect(items).toMatchObject([{ total: '50.00', payment_status: 'PENDING' }]);
    await money.pay(items[0].id, { payment_status: 'SUCCEEDED' });
    await bill('2027-01-04T00:00:00Z');
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '70' });
  });

  test('is topped up at once without an invoice, not twice within its pause', async ({
    api,
    bill,
    money: _,
  }) => {
    const wallet = await makeWallet(api, {
      auto_topup: { ...auto, amount: '5', cooldown: { value: 1, unit: 'day' } },
    });
    // Without a pause as often the amount as it takes to be above 20, in one credit.
    const unpaused = await makeWallet(api, {
      conversion_rate: '2',
      auto_topup: { ...auto, amount: '5' },
    });
    await bill('2027-01-01T00:00:00Z');
    expect(await transactionsOf(api, unpaused)).toMatchObject([{ credit_amount: '25' }]);
    await bill('2027-01-01T23:59:59Z');
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '5' });
    await bill('2027-01-02T00:00:00Z');
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '10' });
  });
});

describe('the real-time balance', () => {
  test('is less what is used and not paid', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '100' });
    const { body } = await api.call('GET', `/v1/wallets/${wallet.id}/balance/real-time`);
    expect(body).toMatchObject({
      real_time_balance: '100',
      current_period_usage: '0.00',
      unpaid_invoices_amount: '0.00',
      credits_available_breakdown: { purchased: '0', free: '100' },
    });
  });
});

describe('the summary of a customer', () => {
  test('says by currency what was invoiced, is unpaid and overdue, and is held', async ({
    api,
    bill,
    money,
  }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '7' });
    const first = await invoiceOf(api, '30');
    await invoiceOf(api, '12');
    await money.pay(first.id, { amount: '25' });
    const due = { body: { due_date: '2298-01-01T00:00:00Z' } };
    await api.call('PUT', `/v1/invoices/${first.id}`, due);
    await bill('2298-01-02T00:00:00Z');
    const path = `/v1/customers/${wallet.customer_id}`;
    const { body } = await api.call('GET', `${path}/invoices/summary`);
    expect(body.items).toEqual([
      {
        currency: 'usd',
        total_revenue: '42.00',
        total_unpaid: '17.00',
        total_overdue: '5.00',
        unpaid_usage: '0.00',
        unpaid_fixed: '17.00',
        invoice_count: 2,
        unpaid_invoice_count: 2,
        overdue_invoice_count: 1,
        wallet_balance: '7',
        receivable: '17',
      },
    ]);
    // The same by the names that clients of other systems know (docs/http.md 18).
    expect(body).toMatchObject({ customer_id: wallet.customer_id, default_currency: null });
    expect(body.summaries).toEqual([
      {
        currency: 'usd',
        customer_id: wallet.customer_id,
        total_revenue_amount: '42.00',
        total_unpaid_amount: '17.00',
        total_overdue_amount: '5.00',
        unpaid_usage_charges: '0.00',
        unpaid_fixed_charges: '17.00',
        total_invoice_count: 2,
        unpaid_invoice_count: 2,
        overdue_invoice_count: 1,
      },
    ]);
    const wallets = await api.call('GET', `${path}/wallets`);
    expect(wallets.body.items).toMatchObject([{ id: wallet.id, real_time_balance: '7' }]);
    expect((await api.call('GET', '/v1/customers/cust_x/wallets')).status).toBe(404);
  });
});
