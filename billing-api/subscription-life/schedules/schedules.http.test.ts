import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { createId } from '../../../runtime/ids.js';
import type { Database } from '../../../sql/pool.js';
import { billingNeeds } from '../../testing/bill-environment.js';
import { test as billedTest } from '../../testing/billed-test.js';
import type { Answer } from '../../testing/money-test.js';
import { runSchedules } from './run-schedules.js';

type World = {
  readonly target: string;
  /** A subscription of 100.00 in advance and 31.00 in arrear, from 1 Jan 2026. */
  readonly subscribe: (members?: object) => Promise<Answer>;
  readonly read: (id: string) => Promise<Answer>;
  /** The schedule that is to come. */
  readonly pending: (id: string) => Promise<{ readonly schedule_id: string }>;
  readonly post: (path: string, body?: object) => Promise<Answer>;
  readonly invoices: (id: string) => Promise<readonly string[]>;
};

/** Beside it a plan of 200.00 in advance. */
const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    const planOf = async (name: string, amount: string, arrear: string | null) => {
      const plan = await api.make('/v1/plans', { name });
      const price = { entity_id: plan.id, currency: 'usd' };
      await api.make('/v1/prices', { ...price, amount, invoice_cadence: 'ADVANCE' });
      if (arrear === null) return plan.id as string;
      await api.make('/v1/prices', { ...price, amount: arrear, invoice_cadence: 'ARREAR' });
      return plan.id as string;
    };
    const planId = await planOf('Pro', '100', '31');
    const target = await planOf('Scale', '200', null);
    await api.make('/v1/customers', { external_id: 'acme' });
    await use({
      target,
      subscribe: (members = {}) =>
        api.make('/v1/subscriptions', {
          external_customer_id: 'acme',
          plan_id: planId,
          currency: 'usd',
          billing_period: 'MONTHLY',
          start_date: '2026-01-01T00:00:00Z',
          ...members,
        }),
      read: async (id) => (await api.call('GET', `/v1/subscriptions/${id}`)).body,
      pending: async (id) => {
        const { body } = await api.call('GET', `/v1/subscriptions/${id}/schedules`);
        const pending = body.items.find((one: Answer) => one.schedule_status === 'pending');
        return { schedule_id: pending.id };
      },
      post: async (path, body = {}) => api.call('POST', `/v1/subscriptions/${path}`, { body }),
      invoices: async (id) => {
        const { items } = await api.make('/v1/invoices/search', { subscription_id: id });
        return items
          .sort((a: Answer, b: Answer) => a.billing_sequence - b.billing_sequence)
          .map((one: Answer) =>
            [
              one.period_start.slice(0, 10),
              one.period_end.slice(0, 10),
              one.billing_reason,
              one.invoice_status,
              one.total,
            ].join(' '),
          );
      },
    });
  },
});

const changeTo = (target: string) => ({
  target_plan_id: target,
  billing_cadence: 'RECURRING',
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  change_at: 'end_of_period',
  proration_behavior: 'create_prorations',
});

describe('a change of plan at the end of the period (25.5)', () => {
  test('is noted, and made when the period ends, without a charge of the old plan for more', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-10T00:00:00Z');
    const preview = await world.post(`${id}/change/preview`, changeTo(world.target));
    expect(preview.body).toMatchObject({
      change_type: 'upgrade',
      effective_date: '2026-02-01T00:00:00.000Z',
      preview_token: null,
      proration_details: { credit_amount: '0.00' },
    });
    const { status, body } = await world.post(`${id}/change/execute`, changeTo(world.target));
    expect([status, body.is_scheduled, body.scheduled_at, body.new_subscription]).toEqual([
      200,
      true,
      '2026-02-01T00:00:00.000Z',
      null,
    ]);
    const { body: list } = await api.call('GET', `/v1/subscriptions/${id}/schedules`);
    const { items } = list;
    // By the names that clients of other systems know (docs/http.md 18).
    expect([list.schedules, list.count]).toEqual([items, items.length]);
    expect(items).toMatchObject([
      { id: body.schedule_id, schedule_type: 'plan_change', schedule_status: 'pending' },
    ]);
    expect(items[0].configuration).toEqual({ ...changeTo(world.target), keep_quantities: false });
    await bill('2026-02-01T00:00:00Z');
    expect((await world.read(id)).subscription_status).toBe('cancelled');
    const schedule = await api.call('GET', `/v1/subscriptions/schedules/${body.schedule_id}`);
    expect(schedule.body.schedule_status).toBe('executed');
    const found = await api.make('/v1/subscriptions/search', { plan_id: world.target });
    const [after] = found.items;
    expect([after.subscription_status, after.start_date, after.current_period_end]).toEqual([
      'active',
      '2026-02-01T00:00:00.000Z',
      '2026-03-01T00:00:00.000Z',
    ]);
    await bill('2026-02-01T02:00:00Z');
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 31.00',
    ]);
    expect(await world.invoices(after.id)).toEqual([
      '2026-02-01 2026-03-01 SUBSCRIPTION_UPDATE FINALIZED 200.00',
    ]);
  });

  test('can be cancelled, and stands in the way of other changes until then', async ({
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    const { body } = await world.post(`${id}/change/execute`, changeTo(world.target));
    for (const [path, request] of [
      [`${id}/change/execute`, changeTo(world.target)],
      [`${id}/change/execute`, { ...changeTo(world.target), change_at: 'immediate' }],
      [`${id}/cancel`, { cancellation_type: 'end_of_period' }],
    ] as const) {
      const refused = await world.post(path, request);
      expect([refused.status, refused.body.message]).toEqual([
        400,
        expect.stringContaining(`${body.schedule_id} is to come; cancel it first`),
      ]);
    }
    const cancelled = await world.post(`schedules/${body.schedule_id}/cancel`);
    expect([cancelled.status, cancelled.body.schedule_status]).toEqual([200, 'cancelled']);
    const twice = await world.post(`schedules/${body.schedule_id}/cancel`);
    expect([twice.status, twice.body.message]).toEqual([
      400,
      expect.stringMatching(/cancelled.*pending/),
    ]);
    await bill('2026-02-01T02:00:00Z');
    expect((await world.invoices(id))[1]).toBe(
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 131.00',
    );
  });

  test('a dated cancellation that cut a draft is undone when that is finalized, and the rest is charged once', async ({
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    await bill('2026-02-01T00:30:00Z');
    const cancelled = await world.post(`${id}/cancel`, {
      cancellation_type: 'scheduled_date',
      cancel_at: '2026-02-20T00:00:00Z',
    });
    expect(cancelled.status).toBe(200);
    await bill('2026-02-10T00:00:00Z');
    // Of February 100.00 × 19 ÷ 28 was charged with the end of January, and 9 days were not.
    expect((await world.invoices(id))[1]).toBe(
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 98.86',
    );
    const { schedule_id: schedule } = await world.pending(id);
    expect((await world.post(`schedules/${schedule}/cancel`)).status).toBe(200);
    await bill('2026-04-01T02:00:00Z');
    expect((await world.invoices(id)).toSorted()).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 98.86',
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 131.00',
      '2026-02-20 2026-03-01 PRORATION FINALIZED 32.14',
      '2026-03-01 2026-04-01 SUBSCRIPTION_CYCLE FINALIZED 131.00',
    ]);
  });

  test('a dated cancellation that is undone before anything was left out charges nothing', async ({
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    await bill('2026-01-10T00:00:00Z');
    for (const body of [
      { cancellation_type: 'end_of_period' },
      { cancellation_type: 'scheduled_date', cancel_at: '2026-01-20T00:00:00Z' },
      { cancellation_type: 'scheduled_date', cancel_at: '2026-02-20T00:00:00Z' },
    ]) {
      expect((await world.post(`${id}/cancel`, body)).status).toBe(200);
      const { schedule_id: schedule } = await world.pending(id);
      await world.post(`schedules/${schedule}/cancel`);
    }
    await bill('2026-02-01T02:00:00Z');
    expect(await world.invoices(id)).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 131.00',
    ]);
  });

  test('that cannot be made says why, and the subscription goes on', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    const { body } = await world.post(`${id}/change/execute`, changeTo(world.target));
    const prices = await api.make('/v1/prices/search', { entity_ids: [world.target] });
    for (const price of prices.items) {
      await api.call('DELETE', `/v1/prices/${price.id}`, {
        body: { end_date: '2026-01-20T00:00:00Z' },
      });
    }
    await bill('2026-02-01T02:00:00Z');
    const schedule = await api.call('GET', `/v1/subscriptions/schedules/${body.schedule_id}`);
    expect([schedule.body.schedule_status, schedule.body.error]).toEqual([
      'failed',
      expect.stringContaining('no live price'),
    ]);
    expect((await world.invoices(id))[1]).toBe(
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 131.00',
    );
  });

  test('that others stand in the way of stays pending, and is tried again for four hours', async ({
    api,
    bill,
    clickhouse,
    database,
    world,
  }) => {
    const scheduled = async () => {
      const { id } = await world.subscribe();
      const { body } = await world.post(`${id}/change/execute`, changeTo(world.target));
      return { id, schedule: body.schedule_id as string };
    };
    const [made, failed] = [await scheduled(), await scheduled()];
    const { environment } = api;
    const owner = ownerOf(database.database);
    const disturb = (id: string) =>
      owner.query(sql.type(z.unknown())`
        UPDATE subscriptions SET version = version + 1 WHERE id = ${id}`);
    /** Runs what is due, while the subscriptions are changed whenever they are read. */
    const runDisturbed = async (instant: string, ids: readonly string[]) => {
      const readSnapshot: Database['readSnapshot'] = async (of, work) => {
        const result = await database.database.readSnapshot(of, work);
        for (const id of ids) await disturb(id);
        return result;
      };
      const disturbed = new Proxy(database.database, {
        get: (target, key) => {
          const member: unknown = key === 'readSnapshot' ? readSnapshot : Reflect.get(target, key);
          return typeof member === 'function' ? (member.bind(target) as unknown) : member;
        },
      });
      const needs = billingNeeds({
        database: disturbed,
        clickHouse: clickhouse.client,
        environment,
      });
      const actor = { kind: 'job', job: 'bill-environment', runId: createId('run') } as const;
      const occasion = { environment, actor, at: Date.parse(instant) };
      return runSchedules({ ...needs, createId }, occasion, 100);
    };
    const read = async ({ schedule }: { readonly schedule: string }) => {
      const { body } = await api.call('GET', `/v1/subscriptions/schedules/${schedule}`);
      return [body.schedule_status, body.error];
    };
    const both = [made.id, failed.id];
    expect(await runDisturbed('2026-02-01T00:00:00Z', both)).toBe(0);
    const conflict = expect.stringContaining('changed while') as string;
    expect([await read(made), await read(failed)]).toEqual([
      ['pending', conflict],
      ['pending', conflict],
    ]);
    expect(await runDisturbed('2026-02-01T00:02:00Z', [failed.id])).toBe(1);
    expect(await read(made)).toEqual(['executed', null]);
    await owner.query(sql.type(z.unknown())`
      UPDATE subscription_schedules SET attempts = 9 WHERE id = ${failed.schedule}`);
    expect(await runDisturbed('2026-02-01T03:59:59.999Z', [failed.id])).toBe(0);
    expect((await read(failed))[0]).toBe('pending');
    expect(await runDisturbed('2026-02-01T04:00:00Z', [failed.id])).toBe(1);
    expect(await read(failed)).toEqual(['failed', conflict]);
    await bill('2026-02-01T04:00:00Z');
    expect((await world.invoices(failed.id))[1]).toMatch('SUBSCRIPTION_CYCLE');
  });

  test('moves with the end of a period that is paused', async ({ api, bill, world }) => {
    const { id } = await world.subscribe();
    const { body } = await world.post(`${id}/change/execute`, changeTo(world.target));
    await world.post(`${id}/pause`, { pause_mode: 'immediate', pause_days: 10 });
    await bill('2026-02-11T00:00:00Z');
    const schedule = await api.call('GET', `/v1/subscriptions/schedules/${body.schedule_id}`);
    expect([schedule.body.schedule_status, schedule.body.scheduled_at]).toEqual([
      'executed',
      '2026-02-11T00:00:00.000Z',
    ]);
  });

  test('has no token', async ({ world }) => {
    const { id } = await world.subscribe();
    const body = { ...changeTo(world.target), preview_token: 'x' };
    const refused = await world.post(`${id}/change/execute`, body);
    expect([refused.status, Object.keys(refused.body.details)]).toEqual([400, ['preview_token']]);
  });
});

describe('a scheduled cancellation (24.4)', () => {
  test('is undone by cancelling its schedule, also where it has cut the period', async ({
    api,
    bill,
    world,
  }) => {
    const dated = (date: string) => ({ cancellation_type: 'scheduled_date', cancel_at: date });
    for (const [request, members] of [
      [{ cancellation_type: 'end_of_period', reason: 'why' }, {}],
      [dated('2026-01-20T00:00:00Z'), {}],
      [dated('2026-04-20T00:00:00Z'), {}],
      // A trial lasts as long as before.
      [dated('2026-01-20T00:00:00Z'), { trial_period_days: 25 }],
      [dated('2026-01-20T00:00:00Z'), { trial_period_days: 25, end_date: '2026-01-22T00:00:00Z' }],
    ] as const) {
      const made = await world.subscribe({ metadata: { a: '1' }, ...members });
      const before = await world.read(made.id);
      expect((await world.post(`${made.id}/cancel`, request)).status).toBe(200);
      const { items } = (await api.call('GET', `/v1/subscriptions/${made.id}/schedules`)).body;
      expect(items[0]).toMatchObject({ schedule_type: 'cancellation', schedule_status: 'pending' });
      await world.post(`schedules/${items[0].id}/cancel`);
      const { version, updated_at, ...after } = await world.read(made.id);
      expect([request, after]).toEqual([
        request,
        { ...before, version: undefined, updated_at: undefined },
      ]);
      expect([version, typeof updated_at]).toEqual([3, 'string']);
    }
    const { id } = await world.subscribe();
    await world.post(`${id}/cancel`, { cancellation_type: 'end_of_period' });
    await bill('2026-02-01T03:00:00Z');
    const { items } = (await api.call('GET', `/v1/subscriptions/${id}/schedules`)).body;
    expect(items[0].schedule_status).toBe('executed');
  });

  test('that is undone after its last period was charged up to it has the rest of that charged', async ({
    api,
    bill,
    world,
  }) => {
    const { id } = await world.subscribe();
    const request = { cancellation_type: 'scheduled_date', cancel_at: '2026-02-15T00:00:00Z' };
    await world.post(`${id}/cancel`, request);
    const { items } = (await api.call('GET', `/v1/subscriptions/${id}/schedules`)).body;
    await bill('2026-02-01T02:00:00Z');
    await bill('2026-02-10T00:00:00Z');
    await world.post(`schedules/${items[0].id}/cancel`);
    await bill('2026-03-01T02:00:00Z');
    expect(await world.invoices(id)).toEqual([
      '2026-02-15 2026-03-01 PRORATION FINALIZED 50.00',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
      // 31.00 for January, and 14 days of February.
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 81.00',
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 131.00',
    ]);
  });
});
