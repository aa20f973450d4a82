import { describe, expect } from 'vitest';
import { expectRefused, test, type Answer } from '../../testing/money-test.js';
import {
  FREE,
  invoiceOf,
  makeWallet,
  readWallet,
  topUp,
  transactionsOf,
} from '../../testing/wallet-calls.js';

describe('debits', () => {
  test('take credits by priority, expiry and age, and name what they took', async ({
    api,
    money,
  }) => {
    const wallet = await makeWallet(api);
    const add = async (credits: string, members: object) =>
      (
        await topUp(api, wallet, {
          ...FREE,
          credits_to_add: credits,
          ...members,
        })
      ).wallet_transaction.id;
    const march = '2299-03-01T00:00:00Z';
    const february = '2299-02-01T00:00:00Z';
    const a = await add('50', { priority: 1, expiry_date_utc: march });
    const b = await add('30', { expiry_date_utc: february });
    const c = await add('20', { priority: 1, expiry_date_utc: february });
    const { body } = await api.call('POST', `/v1/wallets/${wallet.id}/debit`, {
      body: { credits: '60', idempotency_key: '1' },
    });
    expect(body.wallet_transaction.credits_used).toEqual([
      { transaction_id: c, credits: '20' },
      { transaction_id: a, credits: '40' },
    ]);
    const left = new Map(
      (await transactionsOf(api, wallet)).map((one: Answer) => [one.id, one.credits_available]),
    );
    expect([left.get(a), left.get(b), left.get(c)]).toEqual(['10', '30', '0']);
    expect(await money.read('inv_x')).toMatchObject({ code: 'not_found' });
  });

  test('fifty of 3 at once from 100: 33 succeed, and 1 is left', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '100' });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_n, key) =>
        api.call('POST', `/v1/wallets/${wallet.id}/debit`, {
          body: {
            credits: '3',
            idempotency_key: `${key}`,
            transaction_reason: 'CREDIT_ADJUSTMENT',
          },
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(33);
    const refused = answers.find(({ status }) => status !== 200);
    expect(refused?.body.message).toMatch(/has 1 credits that can be used, fewer than 3/);
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '1',
    });
  });

  test('by hand may go below 0, which the next credits fill first; the same key counts once', async ({
    api,
    money: _,
  }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '10' });
    const body = { credits: '15', idempotency_key: 'one' };
    for (let times = 0; times < 2; times += 1) {
      await api.call('POST', `/v1/wallets/${wallet.id}/debit`, { body });
    }
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '-5',
    });
    const { wallet_transaction: credit } = await topUp(api, wallet, {
      ...FREE,
      credits_to_add: '7.5',
    });
    expect(credit).toMatchObject({
      credits_available: '2.5',
      credit_balance_after: '2.5',
    });
  });
});

describe('top-ups', () => {
  test('of money buy credits at the price of one, directly or by an invoice', async ({
    api,
    money,
  }) => {
    const wallet = await makeWallet(api, { topup_conversion_rate: '0.5' });
    const direct = {
      amount: '50',
      transaction_reason: 'PURCHASED_CREDIT_DIRECT',
    };
    expect((await topUp(api, wallet, direct)).wallet).toMatchObject({
      credit_balance: '100',
    });
    const invoiced = await topUp(api, wallet, {
      credits_to_add: '40',
      transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    });
    expect(invoiced.wallet_transaction).toMatchObject({
      transaction_status: 'pending',
    });
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '100',
    });
    expect(await money.read(invoiced.invoice_id)).toMatchObject({
      total: '20.00',
      invoice_type: 'ONE_OFF',
      total_prepaid_credits_applied: '0.00',
    });
    await money.pay(invoiced.invoice_id, { amount: '19.99' });
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '100',
    });
    await money.pay(invoiced.invoice_id, { amount: '0.01' });
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '140',
    });
    const refused = await api.call('POST', `/v1/invoices/${invoiced.invoice_id}/void`, {
      body: {},
    });
    expect(refused.body.message).toMatch(/have arrived in their wallet/);
  });

  test('that are never paid bring nothing when their invoice is voided', async ({
    api,
    money: _,
  }) => {
    const wallet = await makeWallet(api);
    const { invoice_id: id } = await topUp(api, wallet, {
      credits_to_add: '40',
      transaction_reason: 'PURCHASED_CREDIT_INVOICED',
    });
    await api.call('POST', `/v1/invoices/${id}/void`, { body: {} });
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '0',
    });
    expect(await transactionsOf(api, wallet)).toMatchObject([{ transaction_status: 'failed' }]);
  });

  test('get the bonus of the greatest slab that they reach', async ({ api, money: _ }) => {
    const slabs = [
      { threshold: '50', type: 'flat', value: '5' },
      { threshold: '100', type: 'percentage', value: '12.5' },
    ];
    await api.call('PUT', '/v1/settings/wallet_bonus', {
      body: { value: { slabs } },
    });
    const wallet = await makeWallet(api);
    const buy = (credits: string) => topUp(api, wallet, { ...DIRECT, credits_to_add: credits });
    await buy('49');
    await buy('99');
    await buy('101');
    const bonuses = (await transactionsOf(api, wallet)).filter(
      (one: Answer) => one.transaction_reason === 'PURCHASED_CREDIT_BONUS',
    );
    expect(bonuses.map((one: Answer) => one.credit_amount)).toEqual(['12.625', '5']);
    expect(bonuses[0].parent_transaction_id).toMatch(/^wtxn_/);
  });

  test('with the same key at once are one', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api);
    const body = { ...FREE, credits_to_add: '10', idempotency_key: 'k' };
    const done = await Promise.all([1, 2, 3, 4].map(() => topUp(api, wallet, body)));
    expect(new Set(done.map((one) => one.wallet_transaction.id)).size).toBe(1);
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '10',
    });
  });

  test('are refused with the member, and by a wallet that is not active', async ({
    api,
    money: _,
  }) => {
    const wallet = await makeWallet(api);
    const path = `/v1/wallets/${wallet.id}`;
    await expectRefused(
      (body) => api.call('POST', `${path}/top-up`, { body }),
      [
        [FREE, /credits_to_add/],
        [{ ...FREE, credits_to_add: '1', amount: '1' }, /credits_to_add/],
        [{ ...FREE, credits_to_add: '0' }, /credits_to_add/],
        [{ ...FREE, amount: '0.001' }, /amount/],
        [
          {
            ...FREE,
            credits_to_add: '1',
            expiry_date_utc: '2020-01-01T00:00:00Z',
          },
          /expiry_date/,
        ],
        [{ ...FREE, credits_to_add: '1', bonus_credits_to_add: '1' }, /bonus_credits_to_add/],
      ],
    );
    await api.call('PUT', path, { body: { wallet_status: 'frozen' } });
    const frozen = await topUp(api, wallet, { ...FREE, credits_to_add: '1' });
    expect(frozen.message).toMatch(/the wallet is frozen/);
    await api.call('PUT', path, { body: { wallet_status: 'active' } });
    expect((await topUp(api, wallet, { ...FREE, credits_to_add: '1' })).wallet.balance).toBe('1');
  });
});

const DIRECT = { transaction_reason: 'PURCHASED_CREDIT_DIRECT' };

describe('a wallet', () => {
  test('is one of a kind', async ({ api, money: _ }) => {
    await makeWallet(api);
    const body = { external_customer_id: 'acme', currency: 'usd' };
    const again = await api.call('POST', '/v1/wallets', { body });
    expect([again.status, again.body.code]).toEqual([409, 'already_exists']);
    await makeWallet(api, { conversion_rate: '2' });
    await makeWallet(api, { currency: 'eur' });
  });

  test('that is made postpaid gives all of its credits to a new one', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '12.5' });
    const path = `/v1/wallets/${wallet.id}/modify`;
    const body = { modification_type: 'prepaid_to_postpaid', other: 1 };
    const { body: done } = await api.call('POST', path, { body });
    expect(done).toMatchObject({
      original_wallet: { wallet_status: 'closed', credit_balance: '0' },
      new_wallet: { wallet_type: 'POST_PAID', credit_balance: '12.5' },
    });
    expect(done.new_wallet.metadata).toEqual({ converted_from: wallet.id });
    const again = await api.call('POST', path, { body });
    expect(again.body.message).toMatch(/is closed/);
  });

  test('that is terminated loses what it has, and takes nothing more', async ({
    api,
    money: _,
  }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '12.5' });
    const kept = await api.call('DELETE', `/v1/customers/${wallet.customer_id}`);
    expect(kept.body.message).toMatch(/has a wallet that is not closed/);
    const { body } = await api.call('POST', `/v1/wallets/${wallet.id}/terminate`);
    expect(body).toMatchObject({
      wallet_status: 'closed',
      credit_balance: '0',
    });
    const late = await topUp(api, wallet, { ...FREE, credits_to_add: '1' });
    expect(late.message).toMatch(/the wallet is closed/);
    expect((await api.call('DELETE', `/v1/customers/${wallet.customer_id}`)).status).toBe(204);
    const events = await api.call('GET', '/v1/webhooks/events?limit=1000');
    const names = events.body.items.map((event: Answer) => event.event_name);
    expect(names).toContain('wallet.terminated');
  });
});

describe('prepaid credits', () => {
  test('pay an invoice when it is finalized, which can then still be verified', async ({
    api,
    money,
  }) => {
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '40',
      config: { allowed_price_types: ['ALL'] },
    });
    const invoice = await invoiceOf(api, '100');
    expect(invoice).toMatchObject({
      total_prepaid_credits_applied: '40.00',
      total: '60.00',
      amount_remaining: '60.00',
    });
    expect(invoice.line_items[0].prepaid_credits_applied).toBe('40.00');
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '0',
    });
    const [debit] = await transactionsOf(api, wallet);
    expect(debit).toMatchObject({
      transaction_reason: 'CREDIT_ADJUSTMENT',
      reference_type: 'INVOICE',
      lines_paid: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '40' }],
    });
    const { body } = await api.call('GET', `/v1/invoices/${invoice.id}/verify`);
    expect(body).toMatchObject({ same_from_inputs: true, differences: [] });
    await money.pay(invoice.id, { payment_status: 'SUCCEEDED' });
    const after = await api.call('GET', `/v1/invoices/${invoice.id}/verify`);
    expect(after.body).toMatchObject({
      same_from_inputs: true,
      differences: [],
    });
  });

  test('go back to a wallet when the invoice is voided, with what was paid', async ({
    api,
    money,
  }) => {
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '40',
      config: { allowed_price_types: ['ALL'] },
    });
    const invoice = await invoiceOf(api, '100');
    await money.pay(invoice.id, { amount: '10' });
    await api.call('POST', `/v1/invoices/${invoice.id}/void`, { body: {} });
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '50',
    });
  });

  test('of a wallet for usage pay nothing else', async ({ api, money: _ }) => {
    await makeWallet(api, { initial_credits_to_load: '40' });
    expect(await invoiceOf(api, '100')).toMatchObject({
      total_prepaid_credits_applied: '0.00',
    });
  });

  test('of finalizations at once are paid out once', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '100',
      config: { allowed_price_types: ['ALL'] },
    });
    const invoices = await Promise.all(Array.from({ length: 8 }, () => invoiceOf(api, '30')));
    const paid = invoices.map((one) => one.total_prepaid_credits_applied).sort();
    expect(paid).toEqual([...Array(4).fill('0.00'), '10.00', ...Array(3).fill('30.00')]);
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '0',
    });
  });

  test('of a rate with many digits never pay more than they are worth', async ({
    api,
    money: _,
  }) => {
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '100',
      conversion_rate: '0.333333333333333333',
      config: { allowed_price_types: ['ALL'] },
    });
    const invoice = await invoiceOf(api, '50');
    expect(invoice.total_prepaid_credits_applied).toBe('33.33');
    const { balance } = await readWallet(api, wallet);
    expect(Number(balance)).toBeGreaterThanOrEqual(0);
    expect(Number(balance)).toBeLessThan(0.01);
    // Worth 0.03, which rounded to 12 digits asks for 0.004285714286 credits.
    const postpaid = await makeWallet(api, {
      wallet_type: 'POST_PAID',
      conversion_rate: '7',
      initial_credits_to_load: '0.004285714285714286',
    });
    const due = await invoiceOf(api, '0.03');
    const paid = await api.call('POST', `/v1/invoices/${due.id}/payment/attempt`);
    expect(paid.body).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '0.03' });
    expect(await readWallet(api, postpaid)).toMatchObject({ credit_balance: '0' });
  });
});

describe('postpaid credits', () => {
  test('pay what is left of an invoice by a payment of credits', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api, {
      wallet_type: 'POST_PAID',
      initial_credits_to_load: '70',
    });
    const invoice = await invoiceOf(api, '100');
    expect(invoice).toMatchObject({
      amount_paid: '0.00',
      payment_status: 'PENDING',
    });
    const { body } = await api.call('POST', `/v1/invoices/${invoice.id}/payment/attempt`);
    expect(body).toMatchObject({
      amount_paid: '70.00',
      amount_remaining: '30.00',
    });
    const { items } = (await api.call('GET', `/v1/payments?destination_id=${invoice.id}`)).body;
    expect(items).toMatchObject([{ payment_method_type: 'CREDITS', payment_status: 'SUCCEEDED' }]);
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '0',
    });
  });

  test.for([
    ['VOIDED', 'PENDING'],
    ['REFUNDED', 'REFUNDED'],
  ] as const)(
    'go back to a wallet when their payment is %s',
    async ([status, invoiceStatus], { api, money }) => {
      await makeWallet(api, {
        wallet_type: 'POST_PAID',
        initial_credits_to_load: '100',
      });
      const invoice = await invoiceOf(api, '30');
      await api.call('POST', `/v1/invoices/${invoice.id}/payment/attempt`);
      const { items } = (await api.call('GET', `/v1/payments?destination_id=${invoice.id}`)).body;
      const body = { payment_status: status };
      const changed = (await api.call('PUT', `/v1/payments/${items[0].id}`, { body })).body;
      expect(changed).toMatchObject({ payment_status: status });
      expect(await money.read(invoice.id)).toMatchObject({
        payment_status: invoiceStatus,
      });
      const wallets = await api.make('/v1/wallets/search', {
        external_customer_id: 'acme',
      });
      const balances = wallets.items.map((one: Answer) => [one.wallet_type, one.credit_balance]);
      expect(balances.sort()).toEqual([
        ['POST_PAID', '70'],
        ['PRE_PAID', '30'],
      ]);
    },
  );

  test('that were taken are not what a top-up with the same key has brought', async ({
    api,
    money: _,
  }) => {
    const wallet = await makeWallet(api);
    await topUp(api, wallet, {
      ...FREE,
      credits_to_add: '10',
      idempotency_key: '1',
    });
    const body = { credits: '4', idempotency_key: '1' };
    const debit = await api.call('POST', `/v1/wallets/${wallet.id}/debit`, {
      body,
    });
    expect(debit.body).toMatchObject({ code: 'already_exists' });
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '10',
    });
  });

  test('pay at once the invoices of a subscription that is charged automatically', async ({
    api,
    bill,
    money: _,
  }) => {
    await api.make('/v1/customers', { external_id: 'acme', name: 'Acme' });
    await makeWallet(api, {
      wallet_type: 'POST_PAID',
      initial_credits_to_load: '150',
    });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    await api.make('/v1/prices', {
      entity_id: plan.id,
      currency: 'usd',
      amount: '100',
      invoice_cadence: 'ARREAR',
    });
    const subscription = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-10-01T00:00:00.000Z',
      collection_method: 'charge_automatically',
    });
    await bill('2026-12-01T02:00:00.000Z');
    const { items } = await api.make('/v1/invoices/search', {
      subscription_id: subscription.id,
      sort: [{ field: 'period_start', direction: 'asc' }],
    });
    expect(items.map((one: Answer) => [one.payment_status, one.amount_remaining])).toEqual([
      ['SUCCEEDED', '0.00'],
      ['PENDING', '50.00'],
    ]);
  });
});
