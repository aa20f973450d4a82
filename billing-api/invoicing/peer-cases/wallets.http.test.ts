import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { giveInvoice, makeTax } from '../../testing/given-invoice.js';
import { test, type Answer } from '../../testing/money-test.js';
import { advance, test as peerTest, usage } from '../../testing/peer-case.js';
import { FREE, makeWallet, readWallet, topUp, transactionsOf } from '../../testing/wallet-calls.js';

/**
 * Worked cases of other billing systems about credits, wallets and their entries, by the ids under
 * which they were collected. Where ours differ, docs/domain.md 34.27 and 34.32 say which and why.
 */

type Credit = { readonly credits: string; readonly priority?: number; readonly expires?: string };
const ALL = { config: { allowed_price_types: ['ALL'] } };
const POSTPAID = { wallet_type: 'POST_PAID' };
const HAND = { transaction_reason: 'CREDIT_ADJUSTMENT' };

/** Adds a credit to a wallet; its id. */
async function add(api: BillingUnderTest, wallet: Answer, { credits, priority, expires }: Credit) {
  const body = {
    ...FREE,
    credits_to_add: credits,
    ...(priority === undefined ? {} : { priority }),
    ...(expires === undefined ? {} : { expiry_date_utc: expires }),
  };
  return (await topUp(api, wallet, body)).wallet_transaction.id as string;
}

const debit = (api: BillingUnderTest, wallet: Answer, body: object) =>
  api.call('POST', `/v1/wallets/${wallet.id}/debit`, {
    body: { idempotency_key: 'k', ...HAND, ...body },
  });

const balancesOf = async (api: BillingUnderTest): Promise<readonly string[]> =>
  (await api.make('/v1/wallets/search', {})).items.map((one: Answer) => one.credit_balance);

/** Credits in a wallet, a debit, and what is taken of and left of each credit. */
type Debited = readonly [
  ...[title: string, credits: readonly Credit[], debit: string],
  ...[used: readonly string[], left: readonly string[]],
];
const JANUARY = '2298-01-01T00:00:00Z';
const FEBRUARY = '2298-02-01T00:00:00Z';
const first = { credits: '100', priority: 1 };
const second = { credits: '100', priority: 2 };

const DEBITS: readonly Debited[] = [
  ['OM-18: by priority', [first, second], '120', ['100', '20'], ['0', '80']],
  ['OM-18: in whatever order they came', [second, first], '120', ['20', '100'], ['80', '0']],
  [
    'OM-18: of the same priority the one that expires first',
    [
      { ...first, expires: FEBRUARY },
      { ...first, expires: JANUARY },
    ],
    ...(['120', ['20', '100'], ['80', '0']] as const),
  ],
  [
    'OM-21: 60 of 30 with priority 1 and 50 with priority 2',
    [
      { credits: '30', priority: 1 },
      { credits: '50', priority: 2 },
    ],
    ...(['60', ['30', '30'], ['0', '20']] as const),
  ],
  [
    'OM-22: of 10 that expire first and 15, 15 are spent: 10 of the second are left',
    [
      { credits: '10', expires: JANUARY },
      { credits: '15', expires: FEBRUARY },
    ],
    ...(['15', ['10', '5'], ['0', '10']] as const),
  ],
  [
    'FP-23: by expiry, then those without',
    [
      { credits: '50' },
      { credits: '30', expires: '2036-01-01T00:00:00Z' },
      { credits: '20', expires: '2036-02-01T00:00:00Z' },
      { credits: '100', expires: '2036-03-01T00:00:00Z' },
    ],
    ...(['70', ['0', '30', '20', '20'], ['50', '0', '0', '80']] as const),
  ],
  [
    'LG-25: the oldest first',
    [{ credits: '30' }, { credits: '50' }],
    ...(['60', ['30', '30'], ['0', '20']] as const),
  ],
  [
    'LG-25: the oldest first, also when it is the greatest',
    [{ credits: '50' }, { credits: '30' }, { credits: '10' }],
    ...(['60', ['50', '10', '0'], ['0', '20', '10']] as const),
  ],
  [
    'LG-25: the oldest first, of those that expire at the same instant',
    [
      { credits: '30', expires: JANUARY },
      { credits: '50', expires: JANUARY },
    ],
    ...(['60', ['30', '30'], ['0', '20']] as const),
  ],
];

test.for(DEBITS)('%s', async ([, credits, wanted, used, left], { api, money: _ }) => {
  const wallet = await makeWallet(api);
  const ids: string[] = [];
  for (const credit of credits) ids.push(await add(api, wallet, credit));
  const { body } = await debit(api, wallet, { credits: wanted });
  const entries = body.wallet_transaction.credits_used as readonly Answer[];
  const taken = new Map(entries.map((one) => [one.transaction_id, one.credits]));
  expect(ids.map((id) => taken.get(id) ?? '0')).toEqual(used);
  const found: readonly Answer[] = await transactionsOf(api, wallet);
  const available = new Map(found.map((one) => [one.id, one.credits_available]));
  expect(ids.map((id) => available.get(id))).toEqual(left);
});

describe('credits on invoices', () => {
  test.for([
    ['2.00', '3.00', '0'],
    ['7.00', '0.00', '2'],
    ['5.00', '0.00', '0'],
    ['4.99', '0.01', '0'],
    ['5.01', '0.00', '0.01'],
  ] as const)(
    'KB-37: a credit of %s on an open invoice of 5.00 leaves %s open, and %s of the credit',
    async ([credit, open, left], { api, money }) => {
      const wallet = await makeWallet(api, { ...POSTPAID, initial_credits_to_load: credit });
      const invoice = await giveInvoice(api, ['5.00'], { customerId: wallet.customer_id });
      await api.call('POST', `/v1/invoices/${invoice.id}/payment/attempt`);
      expect(await money.read(invoice.id)).toMatchObject({ amount_remaining: open });
      expect((await readWallet(api, wallet)).credit_balance).toBe(left);
    },
  );

  test.for([
    [['150'], '0.00', ['0']],
    [['75', '75'], '0.00', ['0', '0']],
    [['125'], '25.00', ['0']],
    [['160'], '0.00', ['10']],
  ] as const)(
    'OM-14: credits of %s pay lines of 100 and 50 in their order, and leave %s',
    async ([credits, due, left], { api, money: _ }) => {
      const wallets: Answer[] = [];
      for (const [index, credit] of credits.entries()) {
        // A customer has one wallet of a kind: the second has another price of a credit.
        const rate = { topup_conversion_rate: String(index + 1) };
        wallets.push(await makeWallet(api, { ...ALL, ...rate, initial_credits_to_load: credit }));
      }
      const customerId = wallets[0].customer_id;
      const invoice = await giveInvoice(api, ['100', '50'], { customerId });
      expect(invoice.amount_due).toBe(due);
      const paid: (readonly string[])[] = [];
      const lines: readonly Answer[] = invoice.line_items;
      const places = new Map(lines.map(({ id }, place) => [id, place]));
      for (const [index, wallet] of wallets.entries()) {
        expect((await readWallet(api, wallet)).credit_balance).toBe(left[index]);
        const [entry] = await transactionsOf(api, wallet);
        for (const { invoice_line_item_id: line, amount } of entry.lines_paid) {
          paid.push([String(index), String(places.get(line)), amount]);
        }
      }
      // Of the second 75, 25 are used on the first line.
      if (credits.length === 2) {
        expect(paid).toEqual([
          ['0', '0', '75'],
          ['1', '0', '25'],
          ['1', '1', '50'],
        ]);
      }
    },
  );

  test.for([
    ['OD-02', '40', '100', '60.00', '0', '40.00'],
    ['ZU-02', '200', '300', '100.00', '0', '200.00'],
    ['ZU-02, with more than is needed', '200', '150', '0.00', '50', '150.00'],
  ] as const)('%s', async ([, prepaid, charge, due, left, used], { api, money: _ }) => {
    const wallet = await makeWallet(api, { ...ALL, initial_credits_to_load: prepaid });
    const invoice = await giveInvoice(api, [charge], { customerId: wallet.customer_id });
    expect([invoice.amount_due, invoice.total_prepaid_credits_applied]).toEqual([due, used]);
    expect((await readWallet(api, wallet)).credit_balance).toBe(left);
  });

  test.for([
    ['100', '0.50', '50.00'],
    ['33', '0.333', '10.99'],
    ['1', '2.5', '2.50'],
  ] as const)(
    'OD-03: %s credits that cost %s each are sold for %s',
    async ([credits, price, total], { api, money }) => {
      const wallet = await makeWallet(api, { topup_conversion_rate: price });
      const sold = await topUp(api, wallet, {
        credits_to_add: credits,
        transaction_reason: 'PURCHASED_CREDIT_INVOICED',
      });
      const invoice = await money.pay(sold.invoice_id, { payment_status: 'SUCCEEDED' });
      expect(invoice.total).toBe(total);
      expect((await readWallet(api, wallet)).credit_balance).toBe(credits);
    },
  );
});

peerTest.for([
  ['a POST_PAID wallet pays 0.03 with the tax', POSTPAID, '0.03', '0.00', '99.97'],
  ['a PRE_PAID wallet pays the lines and no tax (34.27)', ALL, '0.01', '0.01', '99.98'],
] as const)(
  'LG-20: of lines that round to zero %s (RND-2)',
  async ([, kind, total, open, left], { api, peer }) => {
    await peer.live('2026-10-01');
    const wallet = await makeWallet(api, { ...kind, initial_credits_to_load: '100' });
    const code = await makeTax(api, '40');
    const amounts = [...Array<string>(6).fill('0.004'), '0.01', '0.01'];
    const plan = await peer.plan(...amounts.map((amount) => advance(amount)));
    const subscription = await peer.subscribe(plan, {
      tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd' }],
    });
    const [invoice] = await peer.find(subscription);
    expect(invoice.line_items.map((one: Answer) => one.amount).sort()).toEqual([
      '0.00',
      '0.00',
      '0.00',
      '0.00',
      '0.00',
      '0.00',
      '0.01',
      '0.01',
    ]);
    expect([invoice.subtotal, invoice.total_tax, invoice.total]).toEqual(['0.02', '0.01', total]);
    await api.call('POST', `/v1/invoices/${invoice.id}/payment/attempt`);
    const { body } = await api.call('GET', `/v1/invoices/${invoice.id}`);
    expect(body.amount_remaining).toBe(open);
    expect((await readWallet(api, wallet)).credit_balance).toBe(left);
  },
);

describe('the decimals of credits', () => {
  test('LG-23: more decimals than are kept are refused, and 17.97 are billed as 17.97', async ({
    api,
    money,
  }) => {
    const wallet = await makeWallet(api);
    const buy = (credits_to_add: string) =>
      api.call('POST', `/v1/wallets/${wallet.id}/top-up`, {
        body: { credits_to_add, transaction_reason: 'PURCHASED_CREDIT_INVOICED' },
      });
    const refused = await buy('17.9699999999999988631316');
    expect([refused.status, Object.keys(refused.body.details)]).toEqual([400, ['credits_to_add']]);
    const { body } = await buy('17.97');
    const invoice = await money.pay(body.invoice_id, { payment_status: 'SUCCEEDED' });
    expect(invoice.total).toBe('17.97');
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '17.97',
      balance: '17.97',
    });
  });

  test('LG-24: credits and their money are the same exact number', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '100' });
    await debit(api, wallet, { credits: '14.28444999' });
    expect(await readWallet(api, wallet)).toMatchObject({
      credit_balance: '85.71555001',
      balance: '85.71555001',
    });
  });
});

describe('OM-19: what goes over to the next period', () => {
  test.for([
    ['10', '50'],
    ['49.99', '50'],
    ['50', '50'],
    ['70', '30'],
  ] as const)(
    'at most 50 of 100, by credits that expire beside those that do not: after %s are used, %s',
    async ([used, after], { api, bill, money: _ }) => {
      const wallet = await makeWallet(api);
      const end = '2297-02-01T00:00:00Z';
      await add(api, wallet, { credits: '50' });
      await add(api, wallet, { credits: '50', expires: end });
      await debit(api, wallet, { credits: used });
      await bill(end);
      expect((await readWallet(api, wallet)).credit_balance).toBe(after);
    },
  );

  test('what was used beyond is taken from the next credits', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api);
    await add(api, wallet, { credits: '100' });
    await debit(api, wallet, { credits: '110', transaction_reason: 'MANUAL_BALANCE_DEBIT' });
    await add(api, wallet, { credits: '50' });
    expect((await readWallet(api, wallet)).credit_balance).toBe('40');
  });
});

/** Credits, what is used, and what is there as of the books and after what is used. */
type Live = readonly [
  ...[title: string, credits: string, settled: string, live: string],
  ...usage: (readonly [at: string, units: string])[],
];
const LIVE: readonly Live[] = [
  ['30 of 100', '100', '100', '70', ['2026-10-10', '30']],
  [
    '30 of 20: what is missing shows, though it will be invoiced (34.32)',
    '20',
    '20',
    '-10',
    ['2026-10-10', '30'],
  ],
  ['30 of nothing', '0', '0', '-30', ['2026-10-10', '30']],
  ['30 in a period to come', '100', '100', '100', ['2026-11-10', '30']],
  ['80 and 150', '100', '100', '-130', ['2026-10-05', '80'], ['2026-10-10', '150']],
];

peerTest.for(LIVE)(
  'OM-24: the settled and the live balance: %s',
  async ([, credits, settled, live, ...used], { api, peer }) => {
    await peer.live('2026-10-01');
    const wallet = await makeWallet(api, {
      ...(credits === '0' ? {} : { initial_credits_to_load: credits }),
    });
    const calls = await peer.meter('call');
    await peer.subscribe(await peer.plan(usage(calls, '1')));
    for (const [at, units] of used) await calls.use(at, units);
    await peer.turn('2026-10-20');
    const { body } = await api.call('GET', `/v1/wallets/${wallet.id}/balance/real-time`);
    expect([body.credit_balance, body.real_time_balance]).toEqual([settled, live]);
  },
);

peerTest(
  'FP-06: a grant counts its periods from its own start, so that no part of one is given (34.32)',
  async ({ api, peer }) => {
    await peer.live('2025-01-20');
    const plan = await peer.plan(advance('10'));
    await api.make('/v1/creditgrants', {
      name: 'Credits',
      scope: 'PLAN',
      plan_id: plan.id,
      credits: '100',
      cadence: 'RECURRING',
      period: 'MONTHLY',
      period_count: 1,
      expiration_type: 'NEVER',
    });
    await peer.subscribe(plan, { billing_cycle: 'calendar' });
    await peer.live('2025-01-20T00:00:01Z');
    expect(await balancesOf(api)).toEqual(['100']);
    await peer.live('2025-02-01T00:00:01Z');
    expect(await balancesOf(api)).toEqual(['100']);
    await peer.live('2025-02-20T00:00:01Z');
    expect(await balancesOf(api)).toEqual(['200']);
  },
);

describe('FO-01: the same key', () => {
  const twenty = { credits: '20', idempotency_key: 'one' };

  test('at once is one entry', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '100' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => debit(api, wallet, twenty)));
    expect(new Set(answers.map(({ body }) => body.wallet_transaction.id)).size).toBe(1);
    expect((await readWallet(api, wallet)).credit_balance).toBe('80');
  });

  test('later is the same entry and not a second one', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '100' });
    const [one, two] = [await debit(api, wallet, twenty), await debit(api, wallet, twenty)];
    expect([two.status, two.body.wallet_transaction.id]).toEqual([
      200,
      one.body.wallet_transaction.id,
    ]);
  });

  test('of the request with another body is a conflict', async ({ api, money: _ }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '100' });
    const send = (credits: string) =>
      api.call('POST', `/v1/wallets/${wallet.id}/debit`, {
        headers: { 'idempotency-key': 'request' },
        body: { ...HAND, credits, idempotency_key: credits },
      });
    expect((await send('20')).status).toBe(200);
    const other = await send('30');
    expect([other.status, other.body.code]).toEqual([409, 'already_exists']);
    expect((await send('20')).status).toBe(200);
    expect((await readWallet(api, wallet)).credit_balance).toBe('80');
  });
});
