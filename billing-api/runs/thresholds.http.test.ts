import { sql } from 'slonik';
import { expect } from 'vitest';
import { z } from 'zod';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import { INVOICE_THRESHOLD_ONE } from '../jobs/invoice-thresholds.js';
import { RECOMPUTE_JOBS, THRESHOLD_JOBS } from '../jobs/page-jobs.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { billingRunner } from '../testing/bill-environment.js';
import { test as billedTest } from '../testing/billed-test.js';
import { expectBalancedBooks } from '../testing/check-books.js';
import { completeBackfills } from '../testing/finish-partition.js';
import { generationOf } from '../testing/meter-generation.js';
import type { Answer } from '../testing/money-test.js';
import { setEnvironmentType, setTestClock } from '../testing/set-test-clock.js';
import { runOneJob } from '../testing/run-one-job.js';
import { storeEvents } from '../testing/write-usage-minutes.js';
import { findEnvironmentsWith } from './environments-due.js';

type World = {
  readonly subscription: Answer;
  /** Stores an event of so many units, received when it happened. */
  readonly use: (at: string, units: number) => Promise<void>;
  /** Looks for thresholds that are reached, or computes the drafts again. */
  readonly look: (job?: typeof THRESHOLD_JOBS | typeof RECOMPUTE_JOBS) => Promise<void>;
  /** Looks at those that were set aside. */
  readonly lookAlone: () => Promise<unknown>;
  /** Reason, end and total of each invoice, oldest first. */
  readonly invoices: () => Promise<readonly string[]>;
};

const SUM = { type: 'SUM', field: 'units' } as const;
/** The tiers of the case OR-01: 107.00 for 150,000 units. */
const TIERS = [
  { up_to: 10_000, unit_amount: '0.001' },
  { up_to: 100_000, unit_amount: '0.0008' },
  { up_to: null, unit_amount: '0.0005' },
];

const TIERED = { billing_model: 'TIERED', tier_mode: 'SLAB', tiers: TIERS };

/** A subscription of October 2026 with a threshold of 50.00. */
const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill, database, clickhouse }, use) => {
    await bill('2026-10-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const meter = await api.make('/v1/meters', {
      name: 'Units',
      event_name: 'call',
      aggregation: SUM,
    });
    const ofPlan = { entity_id: plan.id, currency: 'usd' };
    await api.make('/v1/prices', { ...ofPlan, meter_id: meter.id, ...TIERED });
    await api.make('/v1/prices', { ...ofPlan, amount: '20', invoice_cadence: 'ARREAR' });
    await api.make('/v1/customers', { external_id: 'acme' });
    const subscription = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-10-01T00:00:00Z',
      auto_invoice_threshold: '50',
    });
    await completeBackfills(database.database);
    const generation = await generationOf(database.database, meter.id as string);
    const { environment } = api;
    const target = { environment, meterId: meter.id as string, generation };
    const aggregation = { ...COUNT_EVENTS, ...SUM };
    const engines = { database: database.database, clickHouse: clickhouse.client, environment };
    await use({
      subscription,
      use: (at, units) =>
        storeEvents({ database, clickhouse }, environment, [
          {
            at,
            eventName: 'call',
            properties: { units: String(units) },
            countsOn: [{ ...target, aggregation }],
          },
        ]),
      look: (jobs = THRESHOLD_JOBS) => runOneJob(engines, jobs),
      lookAlone: () => billingRunner(engines, [INVOICE_THRESHOLD_ONE]).runDue(Date.now()),
      invoices: async () => {
        const { body } = await api.call('POST', '/v1/invoices/search', { body: {} });
        return (body.items as Answer[])
          .map((one) => `${one.period_end.slice(0, 10)} ${one.billing_reason} ${one.total}`)
          .sort();
      },
    });
  },
});

const HALF = '2026-10-12 AUTO_INVOICE_THRESHOLD 50.00';

test('segments of a period add up to the invoice that it would have had (OR-04, FP-28, PRO-9)', async ({
  api,
  bill,
  world,
}) => {
  await world.use('2026-10-10T12:00:00Z', 49_999);
  await bill('2026-10-11T00:00:00Z');
  await world.look();
  expect(await world.invoices()).toEqual([]);
  await world.use('2026-10-11T12:00:00Z', 10_001);
  await bill('2026-10-12T00:00:00Z');
  await world.look();
  await world.look();
  expect(await world.invoices()).toEqual([HALF]);
  const { id } = world.subscription;
  const { body } = await api.call('GET', `/v1/subscriptions/${id}`);
  expect([body.current_period_start, body.current_period_end]).toEqual([
    '2026-10-12T00:00:00.000Z',
    '2026-11-01T00:00:00.000Z',
  ]);
  await world.use('2026-10-20T00:00:00Z', 90_000);
  await bill('2026-10-21T00:00:00Z');
  // The preview of what is left says what will be charged.
  const preview = await api.make('/v1/invoices/preview', { subscription_id: id });
  expect([preview.period_start, preview.total]).toEqual(['2026-10-12T00:00:00.000Z', '77.00']);
  // Usage is shown since the period began, with all that it costs.
  const usage = await api.make('/v1/subscriptions/usage', { subscription_id: id });
  const quantities = usage.charges.map((one: Answer) => one.quantity);
  expect([usage.amount, quantities]).toEqual(['107.00', ['150000']]);
  await bill('2026-11-01T03:00:00Z');
  expect(await world.invoices()).toEqual([HALF, '2026-11-01 SUBSCRIPTION_CYCLE 77.00']);
});

test('one that cannot be invoiced is set aside, and does not hold up the others', async ({
  api,
  bill,
  database,
  world,
}) => {
  const { id, plan_id, customer_id } = world.subscription;
  const other = await api.make('/v1/subscriptions', {
    external_customer_id: 'acme',
    plan_id,
    currency: 'usd',
    auto_invoice_threshold: '50',
    billing_period: 'MONTHLY',
    start_date: '2026-10-01T00:00:00Z',
  });
  await world.use('2026-10-10T12:00:00Z', 60_000);
  await bill('2026-10-12T00:00:00Z');
  // What the threshold invoice of one of them would be is there already.
  const taken = await api.make('/v1/invoices', {
    customer_id,
    subscription_id: id,
    currency: 'usd',
    invoice_type: 'SUBSCRIPTION',
    billing_period: 'MONTHLY',
    period_start: '2026-10-01T00:00:00.000Z',
    period_end: '2026-10-12T00:00:00.000Z',
    subtotal: '0',
    total: '0',
    amount_due: '0',
    line_items: [{ display_name: 'In the way', amount: '0' }],
  });
  await ownerOf(database.database).query(sql.type(z.unknown())`
    UPDATE invoices SET billing_reason = 'AUTO_INVOICE_THRESHOLD' WHERE id = ${taken.id}`);
  await world.look();
  await world.look();
  const made = async () => {
    const { items } = await api.make('/v1/invoices/search', { limit: 100 });
    const found = (items as Answer[]).filter((one) => one.total !== '0.00');
    return found.map((one) => [one.subscription_id, one.total]).sort();
  };
  expect(await made()).toEqual([[other.id, '50.00']]);
  const { body: jobs } = await api.call('GET', '/v1/jobs?job=invoice-threshold');
  expect(jobs.items.map(({ key }: Answer) => key)).toEqual([id]);
  await api.call('POST', `/v1/invoices/${taken.id}/void`, { body: {} });
  await world.lookAlone();
  expect(await made()).toEqual(
    [
      [other.id, '50.00'],
      [id, '50.00'],
    ].sort(),
  );
});

test('usage of a segment that arrives after it is on the next invoice, explained and verified', async ({
  api,
  bill,
  world,
}) => {
  await world.use('2026-10-11T12:00:00Z', 60_000);
  await bill('2026-10-12T00:00:00Z');
  await world.look();
  await world.use('2026-10-11T13:00:00Z', 90_000);
  await bill('2026-11-01T03:00:00Z');
  expect(await world.invoices()).toEqual([HALF, '2026-11-01 SUBSCRIPTION_CYCLE 77.00']);
  const found = await api.make('/v1/invoices/search', {});
  const cycle = found.items.find((one: Answer) => one.billing_reason === 'SUBSCRIPTION_CYCLE');
  const invoice = (await api.call('GET', `/v1/invoices/${cycle.id}`)).body;
  const line = invoice.line_items.find((one: Answer) => one.price_type === 'USAGE');
  expect([line.quantity, line.amount, line.period_start]).toEqual([
    '150000',
    '57.00',
    '2026-10-01T00:00:00.000Z',
  ]);
  const path = `/v1/invoices/${cycle.id}/line_items/${line.id}/explain`;
  const explained = (await api.call('GET', path)).body;
  expect([explained.rounding.rounded, explained.charged_before, explained.amount]).toEqual([
    '107',
    '50.00',
    '57.00',
  ]);
  for (const one of found.items) {
    const { body } = await api.call('GET', `/v1/invoices/${one.id}/verify`);
    const same = [body.same_from_inputs, body.same_from_events];
    expect([one.billing_reason, ...same]).toEqual([one.billing_reason, true, true]);
  }
});

test('two are reached at once, and a wallet pays of one of them alone', async ({
  api,
  bill,
  world,
}) => {
  const { customer_id, plan_id } = world.subscription;
  await api.make('/v1/subscriptions', {
    customer_id,
    plan_id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-10-01T00:00:00Z',
    auto_invoice_threshold: '50',
  });
  await api.make('/v1/wallets', { customer_id, currency: 'usd', initial_credits_to_load: '10' });
  await world.use('2026-10-10T12:00:00Z', 60_000);
  await bill('2026-10-12T00:00:00Z');
  await world.look();
  // What credits have paid is not part of the total.
  expect(await world.invoices()).toEqual(['2026-10-12 AUTO_INVOICE_THRESHOLD 40.00', HALF]);
  await expectBalancedBooks(api);
});

test('a voided segment is charged by the next invoice', async ({ api, bill, world }) => {
  await world.use('2026-10-11T12:00:00Z', 60_000);
  await bill('2026-10-12T00:00:00Z');
  await world.look();
  const [segment] = (await api.make('/v1/invoices/search', {})).items;
  expect([segment.invoice_status, segment.total]).toEqual(['FINALIZED', '50.00']);
  await api.call('POST', `/v1/invoices/${segment.id}/void`, { body: {} });
  await world.use('2026-10-20T00:00:00Z', 90_000);
  await bill('2026-11-01T03:00:00Z');
  expect((await world.invoices())[1]).toBe('2026-11-01 SUBSCRIPTION_CYCLE 127.00');
  const again = await api.call('POST', `/v1/invoices/${segment.id}/recalculate`, { body: {} });
  expect([again.status, again.body.message]).toEqual([
    400,
    expect.stringContaining('a later invoice of the same period'),
  ]);
});

test('a draft shows at night what has come in since', async ({ api, bill, database, world }) => {
  await world.use('2026-10-11T12:00:00Z', 10_000);
  await bill('2026-11-01T00:00:00Z');
  const [draft] = (await api.make('/v1/invoices/search', {})).items;
  expect([draft.invoice_status, draft.total]).toEqual(['DRAFT', '30.00']);
  await world.use('2026-10-11T13:00:00Z', 50_000);
  await world.look(RECOMPUTE_JOBS);
  expect((await api.call('GET', `/v1/invoices/${draft.id}`)).body.total).toBe('70.00');
  expect(await findEnvironmentsWith(database.database, 'drafts')).toEqual([api.environment]);
  expect(await findEnvironmentsWith(database.database, 'thresholds')).toEqual([api.environment]);
});

test('a test clock that is advanced settles what was used by each of its steps', async ({
  api,
  database,
  clickhouse,
  world,
}) => {
  await setEnvironmentType(database.database, api.environment, 'development');
  const { environment } = api;
  const begin = Date.parse('2026-10-05T00:00:00Z');
  const clock = await setTestClock(database.database, environment, begin);
  const engines = { database: database.database, clickHouse: clickhouse.client, environment };
  const advance = async (now: string): Promise<void> => {
    await api.call('POST', `/v1/test_clocks/${clock}/advance`, { body: { now } });
    await expect
      .poll(async () => {
        await billingRunner(engines).runDue(Date.parse(now));
        return (await api.call('GET', `/v1/test_clocks/${clock}`)).body.status;
      })
      .toBe('ready');
  };
  await world.use('2026-10-10T12:00:00Z', 60_000);
  await advance('2026-10-12T00:00:00Z');
  expect(await world.invoices()).toEqual([HALF]);
  await advance('2026-11-02T00:00:00Z');
  expect(await world.invoices()).toEqual([HALF, '2026-11-01 SUBSCRIPTION_CYCLE 20.00']);
});

test('a threshold is one of usage of the plan, without a commitment', async ({ api, world }) => {
  const { id, plan_id: plan } = world.subscription;
  const fixed = await api.make('/v1/plans', { name: 'Fixed' });
  await api.make('/v1/prices', { entity_id: fixed.id, currency: 'usd', amount: '1' });
  const body = {
    external_customer_id: 'acme',
    plan_id: plan,
    currency: 'usd',
    billing_period: 'MONTHLY',
  };
  const committed = { commitment_amount: '10', overage_factor: '2' };
  for (const [wrong, value] of [
    [{ plan_id: fixed.id }, '5'],
    [committed, '5'],
    [{}, '0'],
    [{}, '-1'],
  ] as const) {
    const sent = { ...body, ...wrong, auto_invoice_threshold: value };
    const answer = await api.call('POST', '/v1/subscriptions', { body: sent });
    expect([wrong, answer.status, Object.keys(answer.body.details)]).toEqual([
      wrong,
      400,
      ['auto_invoice_threshold'],
    ]);
  }
  const other = await api.make('/v1/subscriptions', { ...body, ...committed });
  const put = (of: string, value: string | null) =>
    api.call('PUT', `/v1/subscriptions/${of}`, { body: { auto_invoice_threshold: value } });
  expect((await put(other.id, '5')).status).toBe(400);
  expect((await put(id, '70')).body.auto_invoice_threshold).toBe('70');
  expect((await put(id, null)).body.auto_invoice_threshold).toBeNull();
});

test('usage that becomes cheaper than what was charged is taken off, and the rest is credit', async ({
  api,
  bill,
  world,
}) => {
  const [line] = world.subscription.line_items.filter((one: Answer) => one.meter_id !== null);
  const plan = await api.make('/v1/plans', { name: 'Volume' });
  const price = { entity_id: plan.id, currency: 'usd', billing_model: 'TIERED' };
  await api.make('/v1/prices', {
    ...price,
    meter_id: line.meter_id,
    tier_mode: 'VOLUME',
    tiers: [
      { up_to: 10_000, unit_amount: '0.01' },
      { up_to: null, unit_amount: '0.001' },
    ],
  });
  await api.make('/v1/prices', {
    entity_id: plan.id,
    currency: 'usd',
    amount: '20',
    invoice_cadence: 'ARREAR',
  });
  const subscription = await api.make('/v1/subscriptions', {
    external_customer_id: 'acme',
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-10-01T00:00:00Z',
    auto_invoice_threshold: '80',
  });
  await world.use('2026-10-11T12:00:00Z', 9_000);
  await bill('2026-10-12T00:00:00Z');
  await world.look();
  await world.use('2026-10-20T12:00:00Z', 11_000);
  await bill('2026-11-01T03:00:00Z');
  const { items } = await api.make('/v1/invoices/search', { subscription_id: subscription.id });
  const own = items.filter((one: Answer) => one.subscription_id === subscription.id);
  expect(own.map((one: Answer) => [one.subtotal, one.total]).sort()).toEqual([
    ['-50.00', '0.00'],
    ['90.00', '90.00'],
  ]);
  const wallets = await api.make('/v1/wallets/search', {});
  expect(wallets.items.map((one: Answer) => one.balance)).toEqual(['50']);
  await expectBalancedBooks(api);
});
