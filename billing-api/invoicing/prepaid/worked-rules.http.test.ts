import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { noRows } from '../../../sql/columns.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import type { Answer } from '../../testing/money-test.js';
import { advance, arrear, test, usage } from '../../testing/peer-case.js';
import { setTestClock } from '../../testing/set-test-clock.js';
import {
  FREE,
  invoiceOf,
  makeWallet,
  readWallet,
  topUp,
  transactionsOf,
} from '../../testing/wallet-calls.js';

/** Rules of docs/domain.md 18 to 21 with their figures, as calls see them. */

const ALL = { config: { allowed_price_types: ['ALL'] } };
const daily = (members: object = {}) => ({
  name: 'Daily',
  credits: '5',
  cadence: 'RECURRING',
  period: 'DAILY',
  period_count: 1,
  ...members,
});

/** What the transactions of a wallet say of reasons and credits, newest first. */
const movementsOf = async (api: BillingUnderTest, wallet: Answer): Promise<readonly string[]> =>
  (await transactionsOf(api, wallet)).map(
    (one: Answer) => `${one.transaction_reason} ${one.credit_amount}`,
  );

describe('wallets on invoices (20.7)', () => {
  test.for([
    ['as they were made', false],
    ['the other way round', true],
  ] as const)(
    'the one with the most pays first, and usage before the rest, with rows %s (WAL-2)',
    async ([, isTurned], { api, database, peer }) => {
      await peer.live('2026-10-01');
      const small = await makeWallet(api, { ...ALL, initial_credits_to_load: '25' });
      const great = await makeWallet(api, { initial_credits_to_load: '40' });
      const calls = await peer.meter('call');
      const plan = await peer.plan(arrear('30'), usage(calls, '1'), arrear('7'));
      const subscription = await peer.subscribe(plan);
      await calls.use('2026-10-10', '50');
      await peer.live('2026-11-01T00:30:00Z');
      if (isTurned) {
        // Rows that are written again stand behind the others in the table.
        const owner = ownerOf(database.database);
        for (const table of ['invoice_line_items', 'wallets', 'wallet_transactions']) {
          const rows = sql.identifier([table]);
          const ids = await owner.anyFirst(sql.unsafe`SELECT id FROM ${rows} ORDER BY id DESC`);
          for (const id of ids) {
            await owner.query(sql.type(noRows)`
              UPDATE ${rows} SET metadata = metadata WHERE id = ${String(id)}`);
          }
        }
      }
      await peer.live('2026-11-01T02:00:00Z');
      const [invoice] = await peer.find(subscription);
      expect(invoice).toMatchObject({
        subtotal: '87.00',
        total_prepaid_credits_applied: '65.00',
        total: '22.00',
      });
      const amounts = new Map(invoice.line_items.map(({ id, amount }: Answer) => [id, amount]));
      const paidBy = async (wallet: Answer) =>
        (await transactionsOf(api, wallet))[0].lines_paid.map(
          ({ invoice_line_item_id: id, amount }: Answer) => `${amount} of ${amounts.get(id)}`,
        );
      // The wallet for usage has 40 of the 50; the other one the rest, and some of what is fixed.
      expect(await paidBy(great)).toEqual(['40 of 50.00']);
      expect(await paidBy(small)).toEqual(['10 of 50.00', '15 of 30.00']);
    },
  );
});

describe('a wallet that is made postpaid (20.5)', () => {
  test('is refused below 0, and where there is a postpaid one of its rates; else both are told', async ({
    api,
    peer: _,
  }) => {
    const wallet = await makeWallet(api, { initial_credits_to_load: '10' });
    const modify = ({ id }: Answer) =>
      api.call('POST', `/v1/wallets/${id}/modify`, {
        body: { modification_type: 'prepaid_to_postpaid' },
      });
    const debit = { credits: '10.5', idempotency_key: 'below' };
    await api.call('POST', `/v1/wallets/${wallet.id}/debit`, { body: debit });
    const below = await modify(wallet);
    expect([below.status, below.body.code]).toEqual([400, 'invalid_operation']);
    await topUp(api, wallet, { ...FREE, credits_to_add: '3' });
    const twin = await makeWallet(api, { wallet_type: 'POST_PAID' });
    const taken = await modify(wallet);
    expect([taken.status, taken.body.code]).toEqual([409, 'already_exists']);
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '2.5' });
    await api.call('POST', `/v1/wallets/${twin.id}/terminate`);
    const { new_wallet: made } = (await modify(wallet)).body;
    expect(made).toMatchObject({ wallet_type: 'POST_PAID', credit_balance: '2.5' });
    expect((await movementsOf(api, wallet))[0]).toBe('WALLET_TERMINATION 2.5');
    expect(await movementsOf(api, made)).toEqual(['FREE_CREDIT_GRANT 2.5']);
    const events = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body.items;
    const told = events
      .filter(({ event_name: name }: Answer) => /^wallet\.(created|terminated)$/.test(name))
      .map(({ event_name: name, payload }: Answer) => [name, payload.wallet.id]);
    expect(told).toEqual(
      expect.arrayContaining([
        ['wallet.terminated', wallet.id],
        ['wallet.created', made.id],
      ]),
    );
  });
});

describe('credits that expire (20.6)', () => {
  test('stay while an invoice of their time is not paid, and go when it is', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-10-01');
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '7',
      initial_credits_expiry_date_utc: '2026-10-15T00:00:00Z',
    });
    const subscription = await peer.subscribe(await peer.plan(arrear('30')));
    // Nothing waits for them in the middle of October yet but the period that is not billed.
    await peer.live('2026-11-01T02:00:00Z');
    const [invoice] = await peer.find(subscription);
    expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', payment_status: 'PENDING' });
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '7' });
    const paid = { body: { payment_status: 'SUCCEEDED' } };
    await api.call('PUT', `/v1/invoices/${invoice.id}/payment`, paid);
    await peer.live('2026-11-01T03:00:00Z');
    expect(await movementsOf(api, wallet)).toEqual(['CREDIT_EXPIRED 7', 'FREE_CREDIT_GRANT 7']);
  });
});

describe('credits that paid an invoice which is voided (18)', () => {
  test('go back to the wallets that had them, with their terms; money to one for all', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-10');
    const fixed = await makeWallet(api, {
      config: { allowed_price_types: ['FIXED'] },
      conversion_rate: '2',
      initial_credits_to_load: '15',
      initial_credits_expiry_date_utc: '2026-02-01T00:00:00Z',
    });
    const all = await makeWallet(api, { ...ALL, initial_credits_to_load: '10' });
    const balances = async () => {
      const { items } = await api.make('/v1/wallets/search', {
        sort: [{ field: 'created_at', direction: 'asc' }],
      });
      return items.map((one: Answer) => one.credit_balance);
    };
    const undo = ({ id }: Answer) => api.make(`/v1/invoices/${id}/void`, {});
    const pay = ({ id }: Answer, amount: string) =>
      api.call('PUT', `/v1/invoices/${id}/payment`, { body: { amount } });
    const first = await invoiceOf(api, '42');
    expect([first.total_prepaid_credits_applied, await balances()]).toEqual(['40.00', ['0', '0']]);
    await pay(first, '2');
    await undo(first);
    expect(await balances()).toEqual(['15', '12']);
    const [back] = await transactionsOf(api, fixed);
    expect(back).toMatchObject({
      transaction_reason: 'INVOICE_VOID_REFUND',
      credit_amount: '15',
      amount: '30',
      expiry_date: '2026-02-01T00:00:00.000Z',
      reference_id: first.id,
    });
    const [later, second] = [await invoiceOf(api, '30'), await invoiceOf(api, '12')];
    await undo(second);
    await api.call('POST', `/v1/wallets/${all.id}/terminate`);
    const third = await invoiceOf(api, '5');
    const owing = await makeWallet(api, {
      wallet_type: 'POST_PAID',
      initial_credits_to_load: '20',
    });
    const byCredits = { payment_method_type: 'CREDITS', destination_type: 'INVOICE' };
    const paid = await api.make('/v1/payments', {
      ...byCredits,
      destination_id: third.id,
      amount: '5',
      currency: 'usd',
      payment_method_id: owing.id,
      process_payment: true,
    });
    expect([paid.payment_status, await balances()]).toEqual(['SUCCEEDED', ['0', '0', '15']]);
    await undo(third);
    expect(await balances()).toEqual(['0', '0', '20']);
    await peer.live('2026-02-02');
    await undo(later);
    expect(await balances()).toEqual(['15', '0', '20']);
    await peer.live('2026-02-02T00:02:00Z');
    // They had expired before they came back.
    expect(await balances()).toEqual(['0', '0', '20']);
    expect((await movementsOf(api, fixed))[0]).toBe('CREDIT_EXPIRED 15');
  });

  test('go to the wallet that money goes back to when theirs was closed, and still expire', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-01-10');
    const closed = await makeWallet(api, {
      config: { allowed_price_types: ['FIXED'] },
      conversion_rate: '2',
      initial_credits_to_load: '15',
      initial_credits_expiry_date_utc: '2026-02-01T00:00:00Z',
    });
    const { id } = await invoiceOf(api, '42');
    await api.call('PUT', `/v1/invoices/${id}/payment`, { body: { amount: '12' } });
    await api.call('POST', `/v1/wallets/${closed.id}/terminate`);
    await api.make(`/v1/invoices/${id}/void`, {});
    expect(await peer.credits()).toEqual(['0', '42']);
    await peer.live('2026-02-01T00:02:00Z');
    expect(await peer.credits()).toEqual(['0', '12']);
  });
});

const INVOICED = { transaction_reason: 'PURCHASED_CREDIT_INVOICED' };

describe('top-ups (20.4, 20.9)', () => {
  test('whose payment fails bring nothing, until they are paid or void (WAL-5)', async ({
    api,
    peer: _,
  }) => {
    const wallet = await makeWallet(api);
    const invoiced = { credits_to_add: '40', transaction_reason: 'PURCHASED_CREDIT_INVOICED' };
    const [first, second] = [
      await topUp(api, wallet, invoiced),
      await topUp(api, wallet, { ...invoiced, credits_to_add: '50' }),
    ];
    const pay = ({ invoice_id: id }: Answer, payment_status: string) =>
      api.call('PUT', `/v1/invoices/${id}/payment`, { body: { payment_status } });
    for (const one of [first, second]) await pay(one, 'FAILED');
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '0' });
    await pay(first, 'SUCCEEDED');
    await api.call('POST', `/v1/invoices/${second.invoice_id}/void`, { body: {} });
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '40' });
    const states = (await transactionsOf(api, wallet)).map(
      (one: Answer) => `${one.credit_amount} ${one.transaction_status}`,
    );
    expect(states.sort()).toEqual(['40 completed', '50 failed']);
  });

  test('whose wallet was closed before they are paid arrive where money goes back to', async ({
    api,
    peer,
  }) => {
    const wallet = await makeWallet(api, { conversion_rate: '2' });
    const { invoice_id: id } = await topUp(api, wallet, { ...INVOICED, credits_to_add: '10' });
    await api.call('POST', `/v1/wallets/${wallet.id}/terminate`);
    const body = { payment_status: 'SUCCEEDED' };
    expect((await api.call('PUT', `/v1/invoices/${id}/payment`, { body })).status).toBe(200);
    expect(await peer.credits()).toEqual(['0', '20']);
    await expectBalancedBooks(api);
  });

  test('arrive once what is paid and not given back is what they cost', async ({
    api,
    peer: _,
  }) => {
    const wallet = await makeWallet(api);
    const { invoice_id: id } = await topUp(api, wallet, { ...INVOICED, credits_to_add: '100' });
    const pay = (amount: string) =>
      api.call('PUT', `/v1/invoices/${id}/payment`, { body: { amount } });
    await pay('50');
    const [payment] = (await api.call('GET', `/v1/payments?destination_id=${id}`)).body.items;
    const refunded = { body: { payment_status: 'REFUNDED' } };
    await api.call('PUT', `/v1/payments/${payment.id}`, refunded);
    const credits = async () => (await readWallet(api, wallet)).credit_balance;
    for (const [amount, arrived] of [
      ['10', '0'],
      ['40', '0'],
      ['50', '100'],
    ] as const) {
      expect((await pay(amount)).status).toBe(200);
      expect([amount, await credits()]).toEqual([amount, arrived]);
    }
  });

  test.for([
    ['arrive when a note takes what is left to pay', '60', '40', '100', 'completed'],
    ['fail when a note takes all of it', null, '100', '0', 'failed'],
  ] as const)('%s', async ([, paid, noted, arrived, status], { api, peer: _ }) => {
    const wallet = await makeWallet(api);
    const { invoice_id: id } = await topUp(api, wallet, { ...INVOICED, credits_to_add: '100' });
    const path = `/v1/invoices/${id}`;
    if (paid !== null) await api.call('PUT', `${path}/payment`, { body: { amount: paid } });
    const [line] = (await api.call('GET', path)).body.line_items;
    const note = (amount: string) =>
      api.call('POST', '/v1/creditnotes', {
        body: { invoice_id: id, line_items: [{ invoice_line_item_id: line.id, amount }] },
      });
    const made = await note(noted);
    expect(made.body).toMatchObject({ credit_note_type: 'ADJUSTMENT' });
    expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: arrived });
    expect(await transactionsOf(api, wallet)).toMatchObject([{ transaction_status: status }]);
    expect((await note(paid === null ? '0.01' : '60.01')).status).toBe(400);
    const undone = await api.call('POST', `/v1/creditnotes/${made.body.id}/void`);
    expect(undone.status).toBe(paid === null ? 400 : 200);
  });

  test('that were paid leave as much to spend as before when a note gives the money back', async ({
    api,
    peer: _,
  }) => {
    const wallet = await makeWallet(api, { config: { allowed_price_types: ['ALL'] } });
    const { invoice_id: id } = await topUp(api, wallet, { ...INVOICED, credits_to_add: '15' });
    const paid = { body: { payment_status: 'SUCCEEDED' } };
    const { body: invoice } = await api.call('PUT', `/v1/invoices/${id}/payment`, paid);
    const line = { invoice_line_item_id: invoice.line_items[0].id, amount: '15' };
    const note = { invoice_id: id, line_items: [line] };
    await api.make('/v1/creditnotes', note);
    const { items } = await api.make('/v1/wallets/search', {});
    expect(items).toMatchObject([{ id: wallet.id, credit_balance: '15' }]);
    expect((await api.call('POST', '/v1/creditnotes', { body: note })).status).toBe(400);
  });

  test.for([
    ['usd', '0.004'],
    ['jpy', '0.4'],
  ] as const)(
    'that cost less than the smallest unit of %s are refused, also by themselves',
    async ([currency, amount], { api, peer: _ }) => {
      const auto = (enough: string) => ({
        auto_topup: { enabled: true, threshold: '1', amount: enough, invoicing: true },
      });
      const wallet = await makeWallet(api, { currency, ...auto('1') });
      const buy = (bought: string) =>
        topUp(api, wallet, { transaction_reason: bought, credits_to_add: amount });
      const twin = { external_customer_id: 'acme', currency, conversion_rate: '0.9' };
      const answers = [
        await buy('PURCHASED_CREDIT_INVOICED'),
        await buy('PURCHASED_CREDIT_DIRECT'),
        (await api.call('PUT', `/v1/wallets/${wallet.id}`, { body: auto(amount) })).body,
        (await api.call('POST', '/v1/wallets', { body: { ...twin, ...auto(amount) } })).body,
      ];
      expect(answers.map(({ details }) => Object.keys(details ?? {}))).toEqual([
        ['credits_to_add'],
        ['credits_to_add'],
        ['auto_topup.amount'],
        ['auto_topup.amount'],
      ]);
      expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '0' });
    },
  );

  test('by themselves come once for a burst of usage, and its balance is read without delay (WAL-6, WAL-8, WAL-12)', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-10-01');
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '100',
      auto_topup: { enabled: true, threshold: '20', amount: '50', invoicing: true },
    });
    const calls = await peer.meter('call');
    await peer.subscribe(await peer.plan(usage(calls, '1')));
    const balance = async () =>
      (await api.call('GET', `/v1/wallets/${wallet.id}/balance/real-time`)).body;
    for (const [units, left] of [
      ['30', '70'],
      ['49', '21'],
      ['1', '20'],
    ] as const) {
      await calls.use('2026-10-10', units);
      await peer.turn('2026-10-11');
      expect(await balance()).toMatchObject({
        credit_balance: '100',
        real_time_balance: left,
        balance_updated_at: '2026-10-11T00:00:00.000Z',
      });
    }
    const debit = { credits: '5', idempotency_key: 'read at once' };
    await api.call('POST', `/v1/wallets/${wallet.id}/debit`, { body: debit });
    expect(await balance()).toMatchObject({ credit_balance: '95', real_time_balance: '15' });
    await Promise.all([peer.live('2026-10-11T00:02:00Z'), peer.live('2026-10-11T00:02:00Z')]);
    await peer.live('2026-10-11T00:04:00Z');
    const found = { customer_id: wallet.customer_id, billing_reason: 'WALLET_AUTO_TOPUP' };
    expect((await api.make('/v1/invoices/search', found)).items).toMatchObject([
      { total: '50.00' },
    ]);
  });
});

describe('credits of grants (21.1)', () => {
  test('last as long as they say, and are skipped while their subscription is paused', async ({
    api,
    database,
    peer,
  }) => {
    await peer.live('2026-10-01');
    const plan = await peer.plan(advance('10'));
    const lasting = { expiration_duration: 36, expiration_duration_unit: 'DAY' };
    await api.make('/v1/creditgrants', {
      ...daily({ scope: 'PLAN', plan_id: plan.id, expiration_type: 'DURATION', ...lasting }),
    });
    const subscription = await peer.subscribe(plan);
    await peer.live('2026-10-02T12:00:00Z');
    await peer.post(subscription, 'pause', { pause_mode: 'immediate' });
    await peer.live('2026-10-04T12:00:00Z');
    expect(await peer.credits()).toEqual(['10']);
    await peer.post(subscription, 'resume', { resume_mode: 'immediate' });
    await peer.live('2026-10-05T12:00:00Z');
    expect(await peer.credits()).toEqual(['15']);
    const [wallet] = (await api.make('/v1/wallets/search', {})).items;
    const dates = (await transactionsOf(api, wallet)).map((one: Answer) => one.expiry_date);
    expect(dates).toEqual([
      '2026-11-10T00:00:00.000Z',
      '2026-11-07T00:00:00.000Z',
      '2026-11-06T00:00:00.000Z',
    ]);
    expect(wallet).toMatchObject({ wallet_type: 'PRE_PAID' });
    expect(wallet.config).toEqual({ allowed_price_types: ['USAGE'] });
    // Cancelled a minute after one was due, and before the job came.
    const cancelledAt = Date.parse('2026-10-06T00:01:00Z');
    await setTestClock(database.database, api.environment, cancelledAt);
    await peer.post(subscription, 'cancel', { cancellation_type: 'immediate' });
    await peer.live('2026-10-07T12:00:00Z');
    expect(await peer.credits()).toEqual(['20']);
  });

  test('of a plan that is left inside a day come no more, and those of the new one from then on (WAL-11)', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-10-01');
    const [old, next] = [await peer.plan(advance('10')), await peer.plan(advance('20'))];
    await api.make('/v1/creditgrants', daily({ scope: 'PLAN', plan_id: old.id }));
    const subscription = await peer.subscribe(old);
    await peer.live('2026-10-02T12:00:00Z');
    expect(await peer.credits()).toEqual(['10']);
    await peer.change(subscription, next, { proration_behavior: 'none' });
    await peer.live('2026-10-05T00:00:00Z');
    expect(await peer.credits()).toEqual(['10']);
    // A repeated run brings nothing more either.
    await peer.live('2026-10-05T00:00:01Z');
    expect(await peer.credits()).toEqual(['10']);
  });
});

describe('the summary of invoices (docs/http.md 4)', () => {
  test('divides what remains of an invoice in the proportion of its usage and the rest', async ({
    api,
    peer,
  }) => {
    await peer.live('2026-10-01');
    const calls = await peer.meter('call');
    const plan = await peer.plan(arrear('90'), usage(calls, '1'));
    const subscription = await peer.subscribe(plan);
    await calls.use('2026-10-10', '30');
    await peer.live('2026-11-01T02:00:00Z');
    const [invoice] = await peer.find(subscription);
    const unpaid = async () => {
      const path = `/v1/customers/${invoice.customer_id}/invoices/summary`;
      const [summary] = (await api.call('GET', path)).body.items;
      return [summary.total_unpaid, summary.unpaid_usage, summary.unpaid_fixed];
    };
    const pay = (amount: string) =>
      api.call('PUT', `/v1/invoices/${invoice.id}/payment`, { body: { amount } });
    expect(await unpaid()).toEqual(['120.00', '30.00', '90.00']);
    // A wallet that came later waits for its part of what is unpaid (20.8).
    const wallet = await makeWallet(api, { initial_credits_to_load: '100' });
    const left = async () => {
      const { body } = await api.call('GET', `/v1/wallets/${wallet.id}/balance/real-time`);
      return [body.unpaid_invoices_amount, body.real_time_balance];
    };
    expect(await left()).toEqual(['30.00', '70']);
    await pay('40');
    expect(await unpaid()).toEqual(['80.00', '20.00', '60.00']);
    expect(await left()).toEqual(['20.00', '80']);
    // A quarter of 79.99 is 19.9975.
    await pay('0.01');
    expect(await unpaid()).toEqual(['79.99', '20.00', '59.99']);
    // Without lines of usage all of it is fixed.
    const other = { customer_id: invoice.customer_id, currency: 'usd' };
    await api.make('/v1/invoices', {
      ...other,
      subtotal: '7',
      total: '7',
      amount_due: '7',
      line_items: [{ display_name: 'Work', amount: '7' }],
    });
    expect(await unpaid()).toEqual(['86.99', '20.00', '66.99']);
    await pay('79.99');
    expect(await unpaid()).toEqual(['7.00', '0.00', '7.00']);
  });
});

describe('the ledger (21.2)', () => {
  test('undoes by new postings beside the old ones, which stay as they were (LED-4)', async ({
    api,
    peer: _,
  }) => {
    await makeWallet(api, { ...ALL, initial_credits_to_load: '40' });
    const invoice = await invoiceOf(api, '100');
    const postings = async () =>
      (
        await api.make('/v1/ledger/postings/search', {
          entity_type: 'invoice',
          entity_id: invoice.id,
        })
      ).items;
    const before = await postings();
    await api.call('POST', `/v1/invoices/${invoice.id}/void`, { body: {} });
    const after = await postings();
    const ids = new Set(before.map(({ id }: Answer) => id));
    expect(after.filter(({ id }: Answer) => ids.has(id))).toEqual(before);
    const undone = after.filter(({ id }: Answer) => !ids.has(id));
    const text = (one: Answer) => `${one.kind} ${one.account} ${one.amount}`;
    expect(before.map(text).sort()).toEqual([
      'invoice.finalized receivable 60',
      'invoice.finalized revenue -100',
      'invoice.finalized wallet 40',
    ]);
    expect(undone.map(text).sort()).toEqual([
      'invoice.voided receivable -60',
      'invoice.voided revenue 100',
      'invoice.voided wallet -40',
    ]);
    expect(new Set(undone.map((one: Answer) => one.transaction_id)).size).toBe(1);
  });
});
