import { describe, expect } from 'vitest';
import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { createId, type IdSource } from '../../../runtime/ids.js';
import { killInJob } from '../../../sql/testing/killed-job.js';
import { test as billedTest } from '../../testing/billed-test.js';
import { billingNeeds } from '../../testing/bill-environment.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import { generationOf } from '../../testing/meter-generation.js';
import type { Answer } from '../../testing/money-test.js';
import { storeEvents } from '../../testing/write-usage-minutes.js';
import { syncPlan } from './sync-plan.js';

const SUM = { type: 'SUM', field: 'units' } as const;
const JANUARY = '2026-01-01T00:00:00.000Z';
const MIDDLE = '2026-01-16T00:00:00.000Z';
const FEBRUARY = '2026-02-01T00:00:00.000Z';
const MARCH = '2026-03-01T00:00:00.000Z';

type World = {
  /** A plan of 100.00 in advance and 2.00 per unit, with its prices. */
  readonly planId: string;
  readonly advance: Answer;
  readonly usage: Answer;
  readonly subscribe: (members?: object) => Promise<Answer>;
  /** The lines of a subscription: amount, start and end of each, in the order of their starts. */
  readonly lines: (id: string) => Promise<readonly string[]>;
  readonly read: (id: string) => Promise<Answer>;
  /** Begins a sync, does it at an instant, and answers its workflow. */
  readonly sync: (at: string) => Promise<Answer>;
  readonly use: (at: string, units: number) => Promise<void>;
  readonly invoices: (id: string) => Promise<readonly string[]>;
  /** The ids of subscriptions that are out of sync. */
  readonly outOfSync: () => Promise<readonly string[]>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill, database, clickhouse }, use) => {
    await bill(JANUARY);
    const meter = await api.make('/v1/meters', {
      name: 'Units',
      event_name: 'call',
      aggregation: SUM,
    });
    const target = { environment: api.environment, meterId: meter.id as string };
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd' };
    const advance = await api.make('/v1/prices', {
      ...price,
      amount: '100',
      invoice_cadence: 'ADVANCE',
      display_name: 'Base',
    });
    const usage = await api.make('/v1/prices', { ...price, amount: '2', meter_id: meter.id });
    const read = async (id: string) => (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    let customers = 0;
    await use({
      planId: plan.id as string,
      advance,
      usage,
      read,
      subscribe: async (members = {}) => {
        customers += 1;
        const external = customers === 1 ? 'acme' : `acme-${customers}`;
        await api.make('/v1/customers', { external_id: external });
        const made = await api.make('/v1/subscriptions', {
          external_customer_id: external,
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          start_date: JANUARY,
          ...members,
        });
        await completeBackfills(database.database);
        return made;
      },
      lines: async (id) => {
        const { line_items: found } = await read(id);
        const day = (at: string | null) => (at === null ? '…' : at.slice(0, 10));
        return found
          .map((line: Answer) => {
            const { price: of, quantity } = line;
            return `${day(line.start_date)} – ${day(line.end_date)} ${quantity} × ${of.amount}`;
          })
          .sort();
      },
      sync: async (at) => {
        const begun = await api.call('POST', `/v1/plans/${plan.id}/sync/subscriptions`);
        expect([begun.status, begun.body.plan_id]).toEqual([200, plan.id]);
        await bill(at);
        return (await api.call('GET', `/v1/workflows/${begun.body.workflow_id}`)).body;
      },
      use: async (at, units) => {
        const generation = await generationOf(database.database, meter.id as string);
        await storeEvents({ database, clickhouse }, api.environment, [
          {
            at,
            eventName: 'call',
            properties: { units: String(units) },
            countsOn: [{ ...target, generation, aggregation: { ...COUNT_EVENTS, ...SUM } }],
          },
        ]);
      },
      invoices: async (id) =>
        (await api.make('/v1/invoices/search', { subscription_id: id })).items
          .map(
            (one: Answer) => `${one.period_start.slice(0, 10)} ${one.billing_reason} ${one.total}`,
          )
          .sort(),
      outOfSync: async () => {
        const filters = [{ field: 'plan_prices_out_of_sync', value: { boolean: true } }];
        const { items } = await api.make('/v1/subscriptions/search', { filters });
        return items.map((item: Answer) => item.id).sort();
      },
    });
  },
});

const change = (api: BillingUnderTest, id: string, body: object) =>
  api.call('PUT', `/v1/prices/${id}`, { body });

describe('POST /plans/{id}/sync/subscriptions', () => {
  test('gives a subscription the new prices: usage at once, what is charged in advance with the next period', async ({
    api,
    bill,
    world,
  }) => {
    const { advance, usage, subscribe, lines, sync, use, invoices, read, outOfSync } = world;
    const { id } = await subscribe();
    await use('2026-01-10T00:00:00Z', 1);
    await use('2026-01-20T00:00:00Z', 1);
    await bill(MIDDLE);
    await change(api, advance.id, { amount: '200' });
    await change(api, usage.id, { amount: '3' });
    expect(await outOfSync()).toEqual([id]);
    const done = await sync(MIDDLE);
    expect(done).toMatchObject({
      status: 'Completed',
      entity: 'plan',
      entity_id: world.planId,
      result: { line_items_found_for_creation: 2, line_items_created: 2, line_items_terminated: 2 },
    });
    expect(await lines(id)).toEqual([
      '2026-01-01 – 2026-01-16 0 × 2',
      '2026-01-01 – 2026-02-01 1 × 100',
      '2026-01-16 – … 0 × 3',
      '2026-02-01 – … 1 × 200',
    ]);
    const synced = await read(id);
    expect(synced).toMatchObject({ plan_prices_out_of_sync: false, synced_price_sequence: 6 });
    expect(await outOfSync()).toEqual([]);
    await bill('2026-02-01T02:00:00.000Z');
    expect(await invoices(id)).toEqual([
      '2026-01-01 SUBSCRIPTION_CREATE 100.00',
      '2026-01-01 SUBSCRIPTION_CYCLE 205.00',
    ]);
    await expectBalancedBooks(api);
  });

  test('changes nothing when it is done again, and takes one sync of a plan at a time', async ({
    api,
    bill,
    world,
  }) => {
    const { usage, subscribe, lines, sync, read, planId } = world;
    const { id } = await subscribe();
    await bill(MIDDLE);
    await change(api, usage.id, { amount: '3' });
    const path = `/v1/plans/${planId}/sync/subscriptions`;
    const begun = await Promise.all([1, 2, 3].map(() => api.call('POST', path)));
    expect(begun.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    await bill(MIDDLE);
    const before = [await lines(id), await read(id)];
    expect(before[0]).toHaveLength(3);
    const again = await sync(MIDDLE);
    expect(again.result).toEqual({
      line_items_found_for_creation: 0,
      line_items_created: 0,
      line_items_terminated: 0,
    });
    expect([await lines(id), await read(id)]).toEqual(before);
    expect((await api.call('POST', '/v1/plans/plan_none/sync/subscriptions')).status).toBe(404);
  });

  test('adds a price that the plan has got, and ends a line whose price was ended', async ({
    api,
    bill,
    world,
  }) => {
    const { usage, subscribe, lines, sync, planId } = world;
    const { id } = await subscribe();
    await bill(MIDDLE);
    const price = { entity_id: planId, currency: 'usd' };
    await api.make('/v1/prices', { ...price, amount: '7', invoice_cadence: 'ARREAR' });
    await api.make('/v1/prices', { ...price, amount: '9', invoice_cadence: 'ADVANCE' });
    await api.make('/v1/prices', { ...price, amount: '4', currency: 'eur' });
    await api.call('DELETE', `/v1/prices/${usage.id}`, { body: {} });
    const { result } = await sync(MIDDLE);
    expect(result).toMatchObject({ line_items_created: 2, line_items_terminated: 1 });
    expect(await lines(id)).toEqual([
      '2026-01-01 – 2026-01-16 0 × 2',
      '2026-01-01 – … 1 × 100',
      '2026-01-16 – … 1 × 7',
      '2026-02-01 – … 1 × 9',
    ]);
  });

  test('lets planned prices hand over when their time comes', async ({ api, bill, world }) => {
    const { advance, usage, subscribe, lines, sync } = world;
    const { id } = await subscribe();
    const effective_from = '2026-02-11T00:00:00.000Z';
    await change(api, usage.id, { amount: '3', effective_from });
    await change(api, advance.id, { amount: '200', effective_from: FEBRUARY });
    await bill(MIDDLE);
    await sync(MIDDLE);
    const wanted = [
      '2026-01-01 – 2026-02-01 1 × 100',
      '2026-01-01 – 2026-02-11 0 × 2',
      '2026-02-01 – … 1 × 200',
      '2026-02-11 – … 0 × 3',
    ];
    expect(await lines(id)).toEqual(wanted);
    await bill(MARCH);
    await sync(MARCH);
    expect(await lines(id)).toEqual(wanted);
  });

  test('keeps quantities, and leaves overridden lines and lines ended by hand alone', async ({
    api,
    bill,
    world,
  }) => {
    const { advance, usage, subscribe, lines, sync } = world;
    const overridden = await subscribe({
      override_line_items: [
        { price_id: advance.id, quantity: '3' },
        { price_id: usage.id, amount: '1' },
      ],
    });
    const ended = await subscribe();
    const line = ended.line_items.find((one: Answer) => one.price_id === usage.id);
    await bill('2026-01-10T00:00:00.000Z');
    await api.call('DELETE', `/v1/subscriptions/lineitems/${line.id}`, { body: {} });
    await bill(MIDDLE);
    await change(api, advance.id, { amount: '200' });
    await change(api, usage.id, { amount: '3' });
    await sync(MIDDLE);
    expect(await lines(overridden.id)).toEqual([
      '2026-01-01 – 2026-02-01 3 × 100',
      '2026-01-01 – … 0 × 1',
      '2026-02-01 – … 3 × 200',
    ]);
    expect(await lines(ended.id)).toEqual([
      '2026-01-01 – 2026-01-10 0 × 2',
      '2026-01-01 – 2026-02-01 1 × 100',
      '2026-02-01 – … 1 × 200',
    ]);
  });

  test('waits for the end of a trial, and leaves paused, drafted and cancelled ones as they are', async ({
    api,
    bill,
    world,
  }) => {
    const { advance, subscribe, lines, sync, outOfSync } = world;
    const trialing = await subscribe({ trial_period_days: 20 });
    const paused = await subscribe();
    const draft = await subscribe({ subscription_status: 'draft' });
    const cancelled = await subscribe();
    await bill('2026-01-10T00:00:00.000Z');
    await api.make(`/v1/subscriptions/${paused.id}/pause`, { pause_mode: 'immediate' });
    await api.call('POST', `/v1/subscriptions/${cancelled.id}/cancel`, {
      body: { cancellation_type: 'immediate' },
    });
    await bill(MIDDLE);
    await change(api, advance.id, { amount: '200' });
    await sync(MIDDLE);
    expect(await lines(trialing.id)).toEqual([
      '2026-01-01 – 2026-01-21 1 × 100',
      '2026-01-01 – … 0 × 2',
      '2026-01-21 – … 1 × 200',
    ]);
    for (const { id } of [paused, draft, cancelled]) expect(await lines(id)).toHaveLength(2);
    expect(await outOfSync()).toEqual([paused.id, draft.id, cancelled.id].sort());
  });

  test('goes on where a failure has stopped it, and is done once by whoever is killed at its end', async ({
    api,
    bill,
    database,
    clickhouse,
    world,
  }) => {
    const { usage, subscribe, lines, planId, outOfSync } = world;
    const made = [await subscribe(), await subscribe(), await subscribe()];
    const ids = made.map(({ id }) => id as string).sort();
    await bill(MIDDLE);
    await change(api, usage.id, { amount: '3' });
    const { body } = await api.call('POST', `/v1/plans/${planId}/sync/subscriptions`);
    const path = `/v1/workflows/${body.workflow_id}`;
    // The third id of a line item cannot be made, which is of a later subscription.
    let lineItems = 0;
    const failing: IdSource = (prefix) => {
      if (prefix === 'subs_line') lineItems += 1;
      if (lineItems === 3) throw new Error('lost');
      return createId(prefix);
    };
    const stores = { database: database.database, clickHouse: clickhouse.client };
    const needs = billingNeeds({ ...stores, environment: api.environment });
    const actor = { kind: 'job', job: 'sync-plan', runId: 'run_test' } as const;
    const occasion = { environment: api.environment, actor, at: Date.parse(MIDDLE) };
    const input = { planId, workflowId: body.workflow_id as string };
    await expect(syncPlan({ ...needs, createId: failing }, occasion, input)).rejects.toThrow(
      'lost',
    );
    const left = await outOfSync();
    expect([1, 2]).toContain(left.length);
    expect(left).toEqual(ids.slice(-left.length));
    expect((await api.call('GET', path)).body).toMatchObject({
      status: 'Running',
      result: { line_items_created: 3 - left.length },
    });
    await killInJob('billing-api/testing/hang-in-job', {
      job: 'sync-plan',
      at: 'end',
      databaseUrl: database.url,
      clickHouseUrl: clickhouse.url,
    });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await bill(MIDDLE);
    expect((await api.call('GET', path)).body).toMatchObject({
      status: 'Completed',
      result: { line_items_created: 3, line_items_terminated: 3 },
    });
    for (const id of ids) expect(await lines(id)).toHaveLength(3);
    expect((await api.call('GET', '/v1/jobs?job=sync-plan')).body.items).toEqual([]);
  });

  test('touches no subscription of another plan', async ({ api, bill, world }) => {
    const { usage, subscribe, sync, planId, outOfSync } = world;
    await subscribe();
    const clone = await api.make(`/v1/plans/${planId}/clone`, { name: 'Team' });
    await api.make('/v1/customers', { external_id: 'team' });
    const team = await api.make('/v1/subscriptions', {
      external_customer_id: 'team',
      plan_id: clone.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: JANUARY,
    });
    await bill(MIDDLE);
    await change(api, usage.id, { amount: '3' });
    const { body: plan } = await api.call('GET', `/v1/plans/${clone.id}`);
    const ofClone = plan.prices.find((one: Answer) => one.type === 'USAGE');
    await change(api, ofClone.id, { amount: '3' });
    await sync(MIDDLE);
    expect(await outOfSync()).toEqual([team.id]);
  });
});
