import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { createId } from '../../../runtime/ids.js';
import { noRows } from '../../../sql/columns.js';
import { enqueue } from '../../../sql/jobs/enqueue.js';
import { RECOMPUTE_JOBS } from '../../jobs/page-jobs.js';
import { writeUnit } from '../../records/unit.js';
import { billingNeeds, billingRunner } from '../../testing/bill-environment.js';
import { test as billedTest } from '../../testing/billed-test.js';
import { makeSubscription } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import { generationOf } from '../../testing/meter-generation.js';
import type { Answer } from '../../testing/money-test.js';
import { subscribeMonthly } from '../../testing/subscribe-monthly.js';
import { makeWallet, readWallet } from '../../testing/wallet-calls.js';
import { storeEvents } from '../../testing/write-usage-minutes.js';

type World = {
  /** Stores events of the customer `acme`, counted on a meter. */
  readonly use: (meterId: string, times: readonly string[]) => Promise<void>;
  /** Computes all drafts again, as the job of the night does. */
  readonly refresh: () => Promise<void>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, database, clickhouse }, use) => {
    const { environment } = api;
    const engines = { database: database.database, clickHouse: clickhouse.client, environment };
    await use({
      use: async (meterId, times) => {
        const generation = await generationOf(database.database, meterId);
        const countsOn = [{ environment, meterId, generation }];
        const events = times.map((at) => ({ at, countsOn }));
        await storeEvents({ database, clickhouse }, environment, events);
      },
      refresh: async () => {
        const needs = { ...billingNeeds(engines), createId };
        const actor = { kind: 'operator', name: 'test' } as const;
        await writeUnit(needs, { environment, actor }, (unit) =>
          enqueue(unit, RECOMPUTE_JOBS[0], { input: {} }),
        );
        await billingRunner(engines, [RECOMPUTE_JOBS[0]]).runDue(Date.now());
      },
    });
    await expectBalancedBooks(api);
  },
});

async function taxEverybody(api: BillingUnderTest): Promise<void> {
  await api.make('/v1/taxes/rates', { name: 'VAT', code: 'vat', percentage_value: '20' });
  const body = { tax_rate_code: 'vat', entity_type: 'tenant', auto_apply: true };
  await api.make('/v1/taxes/associations', body);
}

const find = async (api: BillingUnderTest, query: object): Promise<Answer[]> =>
  (await api.make('/v1/invoices/search', { limit: 100, ...query })).items;

const read = async (api: BillingUnderTest, { id }: Answer): Promise<Answer> =>
  (await api.call('GET', `/v1/invoices/${id}`)).body;

async function finalEvents(api: BillingUnderTest, { id }: Answer): Promise<number> {
  const { body } = await api.call('GET', '/v1/webhooks/events?limit=1000');
  return body.items.filter(
    (event: Answer) => event.event_name === 'invoice.update.finalized' && event.entity_id === id,
  ).length;
}

describe('a draft', () => {
  test('that is finalized while its usage is refreshed is as if one had waited for the other (INV-2, INV-7)', async ({
    api,
    bill,
    database,
    world,
  }) => {
    await taxEverybody(api);
    const { meterId, id } = await makeSubscription(api, {
      billing_cycle: 'calendar',
      start_date: '2026-10-01T00:00:00.000Z',
    });
    await completeBackfills(database.database);
    for (const [month, next, number] of [
      ['2026-10', '2026-11', 1],
      ['2026-11', '2026-12', 1],
      ['2026-12', '2027-01', 1],
    ] as const) {
      await world.use(meterId, [`${month}-05T10:00:10Z`, `${month}-05T10:00:20Z`]);
      await bill(`${next}-01T00:30:00.000Z`);
      const [draft] = await find(api, { subscription_id: id, invoice_status: ['DRAFT'] });
      await world.use(meterId, [`${month}-06T10:00:10Z`, `${month}-07T10:00:20Z`]);
      const path = `/v1/invoices/${draft.id}`;
      const answers = await Promise.all([
        api.call('POST', `${path}/recompute`),
        world.refresh(),
        api.call('POST', `${path}/finalize`),
        api.call('POST', `${path}/recompute`),
        api.call('POST', `${path}/finalize`),
        bill(`${next}-01T02:00:00.000Z`),
        world.refresh(),
      ]);
      const statuses = answers.flatMap((answer) => (answer === undefined ? [] : [answer.status]));
      // Who comes too late is told that the invoice is no draft any more, or that it has changed.
      expect(statuses.filter((status) => ![200, 400, 409].includes(status))).toEqual([]);
      // Four events of 0.25, and 20 % of them: as after a refresh and then a finalization.
      const invoice = await read(api, draft);
      expect(invoice).toMatchObject({
        invoice_status: 'FINALIZED',
        subtotal: '1.00',
        total_tax: '0.20',
        total: '1.20',
        invoice_number: `INV-${next.replace('-', '')}-0000${number}`,
      });
      expect(invoice.line_items.map((line: Answer) => line.quantity)).toEqual(['4']);
      expect(invoice.taxes).toHaveLength(1);
      expect(await finalEvents(api, draft)).toBe(1);
      const { body: verified } = await api.call('GET', `${path}/verify`);
      expect(verified).toMatchObject({ same_from_inputs: true, same_from_events: true });
    }
  });

  test('of which nothing has changed stays untouched when it is computed again: no version, no event (INV-9)', async ({
    api,
    bill,
    world,
  }) => {
    const { subscription } = await subscribeMonthly(api);
    await bill('2026-12-01T00:30:00.000Z');
    const [draft] = await find(api, {
      subscription_id: subscription.id,
      invoice_status: ['DRAFT'],
    });
    const happened = async (): Promise<unknown> =>
      (await api.call('GET', '/v1/webhooks/events?limit=1000')).body;
    // The renewal that made the draft has changed the subscription, which it shows from now on.
    await world.refresh();
    const before = [await read(api, draft), await happened()];
    await world.refresh();
    await api.call('POST', `/v1/invoices/${draft.id}/recompute`);
    expect(JSON.stringify([await read(api, draft), await happened()])).toBe(JSON.stringify(before));
    const { body: diff } = await api.call('GET', `/v1/invoices/${draft.id}/diff`);
    expect([diff.causes, diff.lines.map((line: Answer) => line.change)]).toEqual([
      [],
      ['same', 'same'],
    ]);
  });

  test('takes late events until its delay is over by the clock of the environment, and none after (CLK-4)', async ({
    api,
    bill,
    database,
    world,
  }) => {
    const { meterId } = await makeSubscription(api, {
      billing_cycle: 'calendar',
      start_date: '2026-10-01T00:00:00.000Z',
    });
    await completeBackfills(database.database);
    await world.use(meterId, ['2026-10-05T10:00:10Z']);
    await bill('2026-11-01T00:30:00.000Z');
    await world.use(meterId, ['2026-10-06T10:00:10Z']);
    await bill('2026-11-01T01:59:59.999Z');
    const [draft] = await find(api, {});
    expect(draft?.invoice_status).toBe('DRAFT');
    await world.use(meterId, ['2026-10-07T10:00:10Z']);
    await bill('2026-11-01T02:00:00.000Z');
    await world.use(meterId, ['2026-10-08T10:00:10Z']);
    await bill('2026-11-02T00:00:00.000Z');
    expect(await read(api, draft)).toMatchObject({ invoice_status: 'FINALIZED', total: '0.75' });
    const { body } = await api.call('GET', `/v1/invoices/${draft.id}/verify`);
    expect(body).toMatchObject({ same_from_inputs: true, same_from_events: true });
  });

  test('whose exact amounts have many digits is finalized like any other (INV-3)', async ({
    api,
    bill,
    world: _,
  }) => {
    const plan = await api.make('/v1/plans', { name: 'Exact' });
    await api.make('/v1/customers', { external_id: 'exact' });
    const price = { entity_id: plan.id, currency: 'usd', invoice_cadence: 'ARREAR' };
    await api.make('/v1/prices', { ...price, amount: '102.0000000000000024' });
    const exact = await api.make('/v1/subscriptions', {
      external_customer_id: 'exact',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-10-01T00:00:00.000Z',
    });
    await bill('2026-12-01T02:00:00.000Z');
    const [invoice, ...others] = await find(api, {
      subscription_id: exact.id,
      period_end_gte: '2026-12-01T00:00:00Z',
    });
    expect(others).toEqual([]);
    expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', total: '102.00' });
    const { body } = await api.call('GET', `/v1/invoices/${invoice.id}/verify`);
    expect(body).toMatchObject({ same_from_inputs: true, differences: [] });
  });

  test('whose finalization fails after its number was taken leaves the number to the next (NUM-3)', async ({
    api,
    bill,
    database,
    world: _,
  }) => {
    const { subscription } = await subscribeMonthly(api);
    await bill('2026-12-01T00:30:00.000Z');
    const [draft] = await find(api, {
      subscription_id: subscription.id,
      invoice_status: ['DRAFT'],
    });
    const owner = ownerOf(database.database);
    // The event is written after the number was taken; here the database refuses it.
    await owner.query(sql.type(noRows)`
      CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'no room'; END $$`);
    await owner.query(sql.type(noRows)`
      CREATE TRIGGER refuse_event BEFORE INSERT ON system_events
        FOR EACH ROW EXECUTE FUNCTION refuse_event()`);
    const path = `/v1/invoices/${draft.id}`;
    const failed = await Promise.all([1, 2, 3].map(() => api.call('POST', `${path}/finalize`)));
    expect(failed.filter(({ status }) => status < 500)).toEqual([]);
    expect(await read(api, draft)).toMatchObject({ invoice_status: 'DRAFT', invoice_number: null });
    await owner.query(sql.type(noRows)`DROP TRIGGER refuse_event ON system_events`);
    const done = await api.call('POST', `${path}/finalize`);
    const numbers = (await find(api, {})).map((one) => one.invoice_number).sort();
    expect([done.status, done.body.invoice_number]).toEqual([200, 'INV-202612-00002']);
    expect(numbers.filter((one) => one.startsWith('INV-202612'))).toEqual([
      'INV-202612-00001',
      'INV-202612-00002',
    ]);
  });
});

describe('voiding and recalculating', () => {
  test('again and again leaves ledger, wallet and coupon as after the first time (INV-4, INV-10)', async ({
    api,
    bill,
    world: _,
  }) => {
    await bill('2026-10-01T00:00:00.000Z');
    await taxEverybody(api);
    await api.make('/v1/coupons', {
      name: 'Ten',
      coupon_code: 'TEN',
      type: 'percentage',
      percentage_off: '10',
      cadence: 'repeated',
      duration_in_periods: 2,
      max_redemptions: 1,
    });
    const wallet = await makeWallet(api, {
      initial_credits_to_load: '200',
      config: { allowed_price_types: ['ALL'] },
    });
    const found = await api.make('/v1/customers/search', { external_ids: ['acme'] });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', amount: '100' };
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ARREAR' });
    await api.make('/v1/subscriptions', {
      customer_id: found.items[0].id,
      plan_id: plan.id,
      currency: 'usd',
      coupons: ['TEN'],
      billing_period: 'MONTHLY',
      start_date: '2026-10-01T00:00:00.000Z',
    });
    await bill('2026-11-01T02:00:00.000Z');
    const state = async () => {
      const { items } = (await api.call('GET', '/v1/ledger/balances?currency=usd')).body;
      const { items: coupons } = await api.make('/v1/coupons/search', { coupon_codes: ['TEN'] });
      const { credit_balance: credits } = await readWallet(api, wallet);
      const living = (await find(api, {})).filter((one) => one.invoice_status !== 'VOIDED');
      return {
        books: items.map((one: Answer) => [one.account, one.balance]),
        redeemed: coupons.map((one: Answer) => one.total_redemptions),
        credits,
        invoices: await Promise.all(
          living.map(async (one) => {
            const whole = await read(api, one);
            const { subtotal, total_discount, total_tax, total } = whole;
            const { total_prepaid_credits_applied: paid, amount_remaining } = whole;
            const applications = whole.coupon_applications.length;
            return {
              subtotal,
              total_discount,
              total_tax,
              total,
              paid,
              amount_remaining,
              applications,
            };
          }),
        ),
      };
    };
    const before = await state();
    // 100 − 10 = 90, which credits pay; 20 % of it is to be paid.
    expect(before.invoices).toEqual([
      {
        subtotal: '100.00',
        total_discount: '10.00',
        total_tax: '18.00',
        total: '18.00',
        paid: '90.00',
        amount_remaining: '18.00',
        applications: 1,
      },
    ]);
    expect([before.credits, before.redeemed]).toEqual(['110', [1]]);
    for (let time = 0; time < 4; time += 1) {
      const living = (await find(api, {})).find((one) => one.invoice_status === 'FINALIZED');
      const path = `/v1/invoices/${living?.id}`;
      const voids = await Promise.all(
        [1, 2, 3].map(() => api.call('POST', `${path}/void`, { body: {} })),
      );
      expect(voids.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
      expect((await readWallet(api, wallet)).credit_balance).toBe('200');
      expect((await api.call('POST', `${path}/recalculate`)).status).toBe(202);
      await bill('2026-11-01T02:00:00.000Z');
      expect({ time, ...(await state()) }).toEqual({ time, ...before });
    }
    // The coupon is good for two periods, and the voided applications have not used it up.
    await bill('2026-12-01T02:00:00.000Z');
    const [december] = await find(api, { period_end_gte: '2026-12-01T00:00:00Z' });
    expect(december?.total_discount).toBe('10.00');
  });

  test('works for an invoice in advance, too, and its document stays readable (INV-6, PDF-6)', async ({
    api,
    bill,
    world: _,
  }) => {
    await bill('2026-10-01T00:00:00.000Z');
    const { subscription } = await subscribeMonthly(api);
    const { latest_invoice: opening } = subscription;
    const path = `/v1/invoices/${opening.id}`;
    const whole = await read(api, opening);
    await api.call('POST', `${path}/void`, { body: {} });
    const old = await api.call('GET', `${path}/pdf`);
    const lines = await api.call('GET', `${path}/lines.csv`);
    expect((await api.call('POST', `${path}/recalculate`)).status).toBe(202);
    await bill('2026-10-01T00:01:00.000Z');
    const voided = await read(api, opening);
    const replacement = await read(api, { id: voided.recalculated_invoice_id });
    expect(replacement).toMatchObject({
      invoice_status: 'FINALIZED',
      billing_reason: 'SUBSCRIPTION_CREATE',
      total: '30.00',
    });
    expect(replacement.invoice_number).not.toBe(whole.invoice_number);
    // The old document: its number, its lines and its bytes.
    expect(voided).toMatchObject({
      invoice_number: whole.invoice_number,
      line_items: whole.line_items,
      total: '30.00',
    });
    const pdf = await api.call('GET', `${path}/pdf`);
    expect([pdf.status, pdf.body]).toEqual([200, old.body]);
    expect((await api.call('GET', `${path}/lines.csv`)).body).toBe(lines.body);
    const bundle = await api.call('GET', `${path}/bundle`);
    expect([bundle.status, bundle.body.invoice_id]).toEqual([200, opening.id]);
  });
});

describe('a subscription', () => {
  test('whose coupon covers everything can be ended inside its period (INV-8)', async ({
    api,
    bill,
    world: _,
  }) => {
    await bill('2026-10-01T00:00:00.000Z');
    await api.make('/v1/coupons', {
      name: 'All',
      coupon_code: 'ALL',
      type: 'percentage',
      percentage_off: '100',
      cadence: 'forever',
    });
    const { subscription } = await subscribeMonthly(api, { coupons: ['ALL'] });
    await bill('2026-10-11T00:00:00.000Z');
    const path = `/v1/subscriptions/${subscription.id}`;
    const body = { cancellation_type: 'immediate', proration_behavior: 'create_prorations' };
    const ended = await api.call('POST', `${path}/cancel`, { body });
    expect(ended.status).toBe(200);
    expect((await api.call('GET', path)).body.subscription_status).toBe('cancelled');
    const invoices = await find(api, { subscription_id: subscription.id });
    expect(invoices.filter((one) => one.total !== '0.00')).toEqual([]);
    expect((await api.make('/v1/wallets/search', { external_customer_id: 'acme' })).items).toEqual(
      [],
    );
  });
});
