import { describe, expect } from 'vitest';
import { test as billedTest } from '../testing/billed-test.js';
import { makeSubscription } from '../testing/billing-test.js';
import { completeBackfills, finishPartition } from '../testing/finish-partition.js';
import { generationOf } from '../testing/meter-generation.js';
import type { Answer } from '../testing/money-test.js';
import { setTestClock } from '../testing/set-test-clock.js';
import { createWatch } from '../testing/watch-faults.js';
import { whileLocked } from '../testing/while-locked.js';
import { storeEvents } from '../testing/write-usage-minutes.js';

const OCTOBER = { billing_cycle: 'calendar', start_date: '2026-10-01T00:00:00.000Z' };
const DUE = '2026-11-01T02:00:00.000Z';

type World = {
  /** A subscription of 0.25 a call, with two in October; its meter is being backfilled. */
  readonly made: Answer;
  readonly invoices: () => Promise<Answer[]>;
  readonly cancel: () => Promise<{ readonly status: number; readonly body: Answer }>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, database, clickhouse }, use) => {
    // The log has events already, to which a new meter is applied; nobody does so here.
    await finishPartition(database.database, { logId: 'log', partition: 0, nextOffset: 5 });
    const made = await makeSubscription(api, OCTOBER);
    const generation = await generationOf(database.database, made.meterId);
    const countsOn = [{ environment: api.environment, meterId: made.meterId, generation }];
    const times = ['2026-10-05T10:00:10Z', '2026-10-06T10:00:10Z'];
    const events = times.map((at) => ({ at, countsOn }));
    await storeEvents({ database, clickhouse }, api.environment, events);
    const body = { cancellation_type: 'immediate' };
    await use({
      made,
      invoices: async () =>
        (await api.make('/v1/invoices/search', { subscription_id: made.id })).items,
      cancel: () => api.call('POST', `/v1/subscriptions/${made.id}/cancel`, { body }),
    });
  },
});

describe('an invoice whose meter is being backfilled', () => {
  test('stays a draft, says why, and is finalized by the run when the meter is complete', async ({
    api,
    bill,
    database,
    clickhouse,
    world: { made, invoices },
  }) => {
    const plan = await api.make('/v1/plans', { name: 'Fee' });
    await api.make('/v1/prices', { entity_id: plan.id, currency: 'usd', amount: '9' });
    const other = await api.make('/v1/subscriptions', {
      customer_id: made.customerId,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      ...OCTOBER,
    });
    await bill(DUE);
    const [draft, ...more] = await invoices();
    expect([draft.invoice_status, draft.total, more]).toEqual(['DRAFT', '0.00', []]);
    // What bills no such meter is not held up.
    const free = await api.make('/v1/invoices/search', {
      subscription_id: other.id,
      invoice_status: ['FINALIZED'],
    });
    expect(free.items.length).toBeGreaterThan(0);
    const path = `/v1/invoices/${draft.id}/finalize`;
    const refused = await api.call('POST', path);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect(refused.body.message).toMatch(/being applied to meter .*; try again when its backfill/);
    expect(refused.body.message).toContain(made.meterId);
    const { body: left } = await api.call('GET', '/v1/billing/leftovers');
    expect(left.items).toMatchObject([
      { kind: 'held_draft', invoice_id: draft.id, meter_id: made.meterId, age_seconds: 0 },
    ]);
    const watch = await createWatch({
      database: database.database,
      clickHouse: clickhouse.client,
      environment: api.environment,
    });
    await setTestClock(database.database, api.environment, Date.parse('2026-11-01T05:00:00Z'));
    // It is not late: the wait of the meter is told apart.
    expect(await watch()).toEqual([]);
    await completeBackfills(database.database);
    expect(await watch()).toEqual(['late_draft']);
    await bill('2026-11-01T05:00:00.000Z');
    expect((await api.call('GET', '/v1/billing/leftovers')).body.items).toEqual([]);
    expect(await invoices()).toMatchObject([
      { id: draft.id, invoice_status: 'FINALIZED', total: '0.50' },
    ]);
  });

  test('has the usage of the whole meter when that completes while a call finalizes', async ({
    api,
    bill,
    database,
    world: { made, invoices },
  }) => {
    await bill('2026-11-01T00:30:00.000Z');
    const [draft] = await invoices();
    // It has computed without the events of the backfill, and waits.
    const { status, body } = await whileLocked(database.database, {
      subscriptionId: made.id,
      waiting: 1,
      begin: () => api.call('POST', `/v1/invoices/${draft.id}/finalize`),
      then: () => completeBackfills(database.database),
    });
    expect([status, body.invoice_status, body.total]).toEqual([200, 'FINALIZED', '0.50']);
  });

  test('cannot be the last one of a subscription that is cancelled at once', async ({
    bill,
    database,
    world: { invoices, cancel },
  }) => {
    await bill('2026-10-20T00:00:00.000Z');
    const refused = await cancel();
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    expect(refused.body.message).toMatch(/try again when its backfill is completed/);
    expect(await invoices()).toEqual([]);
    await completeBackfills(database.database);
    expect((await cancel()).status).toBe(200);
    expect(await invoices()).toMatchObject([{ invoice_status: 'FINALIZED', total: '0.50' }]);
  });

  test('holds up a change of plan at the end of the period, and that is made when the meter is complete', async ({
    api,
    bill,
    database,
    world: { made, invoices },
  }) => {
    const target = await api.make('/v1/plans', { name: 'Flat' });
    const price = { amount: '9', invoice_cadence: 'ADVANCE' };
    await api.make('/v1/prices', { entity_id: target.id, currency: 'usd', ...price });
    await bill('2026-10-20T00:00:00.000Z');
    const { body } = await api.call('POST', `/v1/subscriptions/${made.id}/change/execute`, {
      body: {
        target_plan_id: target.id,
        billing_cadence: 'RECURRING',
        billing_cycle: 'calendar',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        change_at: 'end_of_period',
        proration_behavior: 'create_prorations',
      },
    });
    expect(body.is_scheduled).toBe(true);
    const schedule = async (): Promise<string> =>
      (await api.call('GET', `/v1/subscriptions/schedules/${body.schedule_id}`)).body
        .schedule_status;
    await bill('2026-11-02T00:00:00.000Z');
    expect([await schedule(), await invoices()]).toEqual(['pending', []]);
    await completeBackfills(database.database);
    await bill('2026-11-03T00:00:00.000Z');
    expect([await schedule(), await invoices()]).toMatchObject([
      'executed',
      [{ invoice_status: 'FINALIZED', total: '0.50' }],
    ]);
    const { items } = await api.make('/v1/subscriptions/search', { plan_id: target.id });
    // As of the end of October, however late.
    expect(items).toMatchObject([{ start_date: '2026-11-01T00:00:00.000Z' }]);
  });

  test('holds up an automatic cancellation, whose final invoice then has all of its usage', async ({
    api,
    bill,
    database,
    world: { made, invoices },
  }) => {
    // What is not paid, of the subscription itself (docs/domain.md 13.7).
    await api.make('/v1/invoices', {
      customer_id: made.customerId,
      subscription_id: made.id,
      currency: 'usd',
      invoice_type: 'SUBSCRIPTION',
      billing_period: 'MONTHLY',
      period_start: '2026-09-01T00:00:00Z',
      period_end: '2026-10-01T00:00:00Z',
      subtotal: '9',
      total: '9',
      amount_due: '9',
      due_date: '2026-10-10T00:00:00Z',
      line_items: [{ display_name: 'Set up', amount: '9' }],
    });
    const setting = { value: { enabled: true, grace_period_days: 3 } };
    await api.call('PUT', '/v1/settings/subscription_auto_cancel', { body: setting });
    const status = async (): Promise<string> =>
      (await api.call('GET', `/v1/subscriptions/${made.id}`)).body.subscription_status;
    await bill('2026-10-20T00:00:00.000Z');
    expect(await status()).toBe('active');
    await completeBackfills(database.database);
    await bill('2026-10-20T00:00:00.001Z');
    expect(await status()).toBe('cancelled');
    const totals = (await invoices()).map((one) => one.total).sort();
    expect(totals).toEqual(['0.50', '9.00']);
  });
});
