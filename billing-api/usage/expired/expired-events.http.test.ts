import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../../../clickhouse/client.js';
import type { Environment } from '../../../contract/environment.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import type { Database } from '../../../sql/pool.js';
import { balanceClosedHours } from '../../events/reconciliation/balance-closed-hours.js';
import {
  beginRecounts,
  recountForAWhile,
  sumOfDrifts,
} from '../../events/reconciliation/recount-turns.js';
import { makeKey, makeSubscription, test as base } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { retentionOf } from '../../testing/expire-month.js';
import { finishPartition } from '../../testing/finish-partition.js';
import { storeAccepted, storeLogEvents, type LogEvent } from '../../testing/log-rows.js';
import { insertLines } from '../../testing/write-usage-minutes.js';
import { generationOf } from '../../testing/meter-generation.js';

const AT = { logId: 'log', partition: 0 };
const BEGIN = '2026-02-01T00:00:00.000Z';

const event = (offset: number, at: string, members: Partial<LogEvent> = {}): LogEvent => ({
  id: `e${offset}`,
  at,
  name: 'call',
  customer: { externalCustomerId: 'acme' },
  source: '',
  properties: { region: 'eu' },
  place: { ...AT, offset },
  ...members,
});

/** Those of January expire; one of them was sent with a timestamp of June. */
const EVENTS: readonly LogEvent[] = [
  event(1, '2026-01-10T10:00:15.000Z'),
  event(2, '2026-01-10T10:00:45.000Z'),
  event(3, '2026-01-31T23:59:59.999Z'),
  event(4, '2026-06-20T10:30:10.000Z', { receivedAt: '2026-01-20T08:00:00.000Z' }),
  event(5, '2026-02-01T00:00:00.000Z'),
  // Sent late: of January by its timestamp, and still there.
  event(6, '2026-01-12T05:00:00.000Z', { receivedAt: '2026-02-03T00:00:00.000Z' }),
  event(7, '2026-06-20T09:00:30.000Z'),
];

async function storeMinutes(
  client: ClickHouse,
  environment: Environment,
  of: {
    readonly meterId: string;
    readonly generation: number;
    readonly events: readonly LogEvent[];
  },
): Promise<void> {
  const lines = of.events.map(({ at }) =>
    JSON.stringify({
      tenant_id: environment.tenantId,
      environment_id: environment.environmentId,
      customer_key: 'e:acme',
      meter_id: of.meterId,
      generation: of.generation,
      minute: `${at.slice(0, 10)} ${at.slice(11, 16)}:00`,
      source: '',
      group_key: '',
      event_count: 1,
    }),
  );
  await insertLines(client, 'usage_minute_v1', lines);
}

const WINDOW = { start_time: '2026-01-10T10:00:00Z', end_time: '2026-06-20T11:00:00Z' };

/** A subscription with a counting meter and its events, in the time before anything expires. */
async function makeWorld(api: BillingUnderTest, database: Database, client: ClickHouse) {
  const made = await makeSubscription(api, { start_date: '2026-01-10T10:00:30Z' });
  const { meterId } = made;
  const generation = await generationOf(database, meterId);
  await storeLogEvents(client, api.environment, EVENTS);
  await storeMinutes(client, api.environment, { meterId, generation, events: EVENTS });
  await finishPartition(database, { ...AT, nextOffset: 20 });
  const usage = (members: object) =>
    api.call('POST', '/v1/events/usage/meter', {
      body: { meter_id: meterId, external_customer_id: 'acme', ...WINDOW, ...members },
    });
  return { ...made, usage };
}

type Expiring = Awaited<ReturnType<typeof makeWorld>> & {
  /** The month of which events expire, step by step. */
  readonly month: ReturnType<typeof retentionOf>;
};

/** The world on the 20th of June, of which January is about to expire. */
const test = base.extend<{ readonly expiring: Expiring }>({
  expiring: async ({ api, database: { database }, clickhouse: { client }, clock }, use) => {
    clock.set('2026-06-20T12:00:00.000Z');
    const world = await makeWorld(api, database, client);
    await use({ ...world, month: retentionOf(database, client, '2026-01') });
  },
});

const NEEDS = 'this needs raw events with timestamps between';

describe('usage, after raw events expired', () => {
  test('stays what it was in whole minutes; ends inside a minute are refused where events are missing', async ({
    api,
    expiring,
  }) => {
    const { usage, id, month } = expiring;
    const before = (await usage({})).body;
    expect(before.value).toBe('7');
    for (const step of [month.count, month.expire, month.remove]) {
      await step();
      expect((await usage({})).body).toEqual(before);
    }
    // Below, at and above what expired: the hours that have lost events, and no others.
    const ends = [
      ['2026-01-10T10:00:30Z', false],
      ['2026-01-10T09:59:30Z', true],
      ['2026-01-31T23:00:00.001Z', false],
      ['2026-02-01T00:00:00.001Z', true],
      ['2026-01-12T05:00:00.001Z', true],
      ['2026-06-20T10:30:30Z', false],
      ['2026-06-20T09:00:15Z', true],
    ] as const;
    for (const [start_time, isAnswered] of ends) {
      const { status, body } = await usage({ start_time });
      expect({ start_time, status }).toEqual({ start_time, status: isAnswered ? 200 : 400 });
      if (isAnswered) continue;
      expect(body.code).toBe('invalid_operation');
      expect(body.message).toContain(NEEDS);
      expect(body.message).toContain(`appended before ${BEGIN}`);
    }
    expect((await usage({ start_time: '2026-02-01T00:00:00.001Z' })).body.value).toBe('2');
    const preview = (period_start: string) =>
      api.call('POST', '/v1/invoices/preview', {
        body: { subscription_id: id, period_start, period_end: '2026-06-10T10:00:30Z' },
      });
    expect((await preview('2026-01-10T10:00:30Z')).body.message).toContain(NEEDS);
    expect((await preview('2026-02-10T10:00:30Z')).status).toBe(200);
  });

  test('is not refused in an environment that lost nothing', async ({
    api,
    database: { database },
    clickhouse: { client },
    expiring,
  }) => {
    const { environment, apiKey } = await makeKey(database, {});
    await storeLogEvents(client, environment, EVENTS);
    const { usage, month } = expiring;
    await client.command(
      `ALTER TABLE events_v1 DELETE WHERE environment_id = '${api.environment.environmentId}'`,
    );
    await month.count();
    await month.expire();
    expect((await usage({ start_time: '2026-01-10T10:00:30Z' })).status).toBe(200);
    const headers = { 'x-api-key': apiKey };
    const range = 'start_time=2026-01-01T00:00:00Z&end_time=2026-02-01T00:00:00Z';
    const list = await api.call('GET', `/v1/events?${range}`, { headers });
    expect([list.status, list.body.message]).toEqual([400, expect.stringContaining(NEEDS)]);
  });
});

describe('questions about events, after some expired', () => {
  test('are refused, answered, or told what has become of an event', async ({ api, expiring }) => {
    const { id, month } = expiring;
    await month.count();
    await month.expire();
    await month.remove();
    const january = 'start_time=2026-01-01T00:00:00Z&end_time=2026-02-01T00:00:00Z';
    const february = 'start_time=2026-02-01T00:00:00Z&end_time=2026-03-01T00:00:00Z';
    const subscription = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    const [line] = subscription.line_items;
    const period = 'period_start=2026-01-10T10:00:00Z&period_end=2026-02-10T10:00:00Z';
    const refused = [
      `/v1/events?${january}`,
      `/v1/events/monitoring?${january}`,
      `/v1/subscriptions/lineitems/${line.id}/events?${period}`,
    ];
    for (const path of refused) {
      const { status, body } = await api.call('GET', path);
      expect({ path, status, code: body.code }).toEqual({
        path,
        status: 400,
        code: 'invalid_operation',
      });
      expect(body.message).toContain(NEEDS);
    }
    expect((await api.call('GET', `/v1/events?${february}`)).body.events).toHaveLength(1);
    expect((await api.call('GET', `/v1/events?${january}&event_name=other`)).status).toBe(200);
    const gone = await api.call('GET', '/v1/events/lookup?id=e1');
    expect([gone.status, gone.body.code]).toEqual([404, 'not_found']);
    expect(gone.body.message).toBe(
      'an event with this id was appended to the log at 2026-01-10T10:00:15.000Z; raw events that ' +
        `were appended before ${BEGIN} have been removed. Its id still bars duplicates`,
    );
    const listed = await api.call('GET', `/v1/events?${january}&event_id=e1`);
    expect([listed.status, listed.body.message]).toEqual([400, gone.body.message]);
    expect((await api.call('GET', `/v1/events?${january}&event_id=e6`)).body.events).toHaveLength(
      1,
    );
    expect((await api.call('GET', '/v1/events/lookup?id=e6')).status).toBe(200);
    expect((await api.call('GET', '/v1/events/lookup?id=never')).body.message).not.toContain(
      'removed',
    );
  });
});

describe('the reconciliation, after raw events expired', () => {
  test('balances exactly before, during and after the removal, and recounts what is left', async ({
    api,
    database: { database },
    clickhouse: { client },
    expiring,
  }) => {
    const { month } = expiring;
    const hour = '2026-01-10T10:00:00.000Z';
    await storeAccepted(client, api.environment, {
      source: 'log:0',
      start: 0,
      end: 20,
      hour,
      events: 2,
    });
    await storeAccepted(client, api.environment, {
      source: 'log:0',
      start: 0,
      end: 20,
      hour: '2026-06-20T09:00:00.000Z',
      events: 1,
    });
    const range = 'start_time=2026-01-10T10:00:00Z&end_time=2026-01-10T11:00:00Z';
    const totals = async () => {
      const { body } = await api.call('GET', `/v1/events/reconciliation?${range}`);
      const { accepted, counted, expired, difference } = body.totals;
      return { accepted, counted, expired, difference };
    };
    const engines = { database, clickHouse: client };
    const now = Date.parse('2026-06-20T12:00:00.000Z');
    const drift = async () => {
      const state = beginRecounts();
      await recountForAWhile(engines, state, now);
      return sumOfDrifts(state);
    };
    const whole = { accepted: 2, counted: 2, expired: 0, difference: 0 };
    await month.count();
    expect(await drift()).toBe(0);
    await month.expire();
    await month.remove();
    expect(await totals()).toEqual({ ...whole, counted: 0, expired: 2 });
    // The event of June that arrived in January is counted, and cannot be recounted.
    expect(await drift()).toBe(0);
    expect(await balanceClosedHours(engines, now)).toBe(0);
    // Others of the hours around it still are.
    await client.command(`ALTER TABLE events_v1 DELETE WHERE event_id = 'e7'`, {});
    expect(await drift()).toBe(1);
  });

  test('counts a month that has expired and is still there as expired, once', async ({
    api,
    expiring,
  }) => {
    const { month } = expiring;
    await month.count();
    await month.count();
    await month.expire();
    const range = 'start_time=2026-01-10T10:00:00Z&end_time=2026-01-10T11:00:00Z';
    const { body } = await api.call('GET', `/v1/events/reconciliation?${range}`);
    expect(body.totals).toMatchObject({ counted: 0, unmatched: 0, expired: 2 });
  });
});

describe('a meter, after raw events expired', () => {
  test('keeps its filters when events that it counted are gone; a new one takes others', async ({
    api,
    database: { database },
    expiring,
  }) => {
    const { meterId, month } = expiring;
    await month.count();
    await month.expire();
    const filters = [{ key: 'region', values: ['eu'] }];
    const put = (id: string) => api.call('PUT', `/v1/meters/${id}`, { body: { filters } });
    const { status, body } = await put(meterId);
    expect([status, body.code]).toEqual([400, 'invalid_operation']);
    expect(body.message).toContain(`other filters would change the usage before ${BEGIN}`);
    const kept = (await api.call('GET', `/v1/meters/${meterId}`)).body;
    expect([kept.version, kept.filters]).toEqual([1, []]);
    const made = await api.make('/v1/meters', {
      name: 'New',
      event_name: 'call',
      aggregation: { type: 'COUNT' },
    });
    // What the aggregator writes: the meter was applied to what is left.
    await ownerOf(database).query(sql.type(z.unknown())`
      UPDATE meter_backfills SET counts_from = ${BEGIN}, raw_events_begin = ${BEGIN},
        status = 'completed', completed_at = now() WHERE meter_id = ${made.id}`);
    const shown = (await api.call('GET', `/v1/meters/${made.id}`)).body;
    expect(shown.backfill).toMatchObject({ status: 'completed', counts_from: BEGIN });
    expect((await put(made.id)).status).toBe(200);
  });
});
