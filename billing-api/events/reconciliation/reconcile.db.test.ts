import { describe, expect } from 'vitest';
import { test } from '../../testing/billing-test.js';
import { completeBackfills, finishPartition } from '../../testing/finish-partition.js';
import {
  storeAccepted,
  storeAllAccepted,
  storeLogDuplicates,
  storeLogEvents,
  type LogEvent,
} from '../../testing/log-rows.js';
import { insertLines } from '../../testing/write-usage-minutes.js';
import { HOUR_MS } from '../../../contract/instant.js';
import type { ClickHouseQueries } from '../../../clickhouse/client.js';
import { DependencyError } from '../../../runtime/failure.js';
import { balanceClosedHours } from './balance-closed-hours.js';
import { beginRecounts, recountForAWhile, sumOfDrifts } from './recount-turns.js';
import { generationOf } from '../../testing/meter-generation.js';

const NOW = Date.parse('2026-10-01T12:30:00.000Z');
const AT = { logId: 'log', partition: 0, nextOffset: 20 };

const event = (offset: number, at: string): LogEvent => ({
  id: `e${offset}`,
  at,
  name: 'call',
  customer: { externalCustomerId: `c${offset % 3}` },
  source: '',
  properties: {},
  place: { ...AT, offset },
});

/** Recounts every meter once. On a busy machine that takes several calls. */
async function recountAll(
  engines: Parameters<typeof recountForAWhile>[0],
  state: ReturnType<typeof beginRecounts>,
  now = NOW,
): Promise<void> {
  let isRoundOver = false;
  while (!isRoundOver) isRoundOver = await recountForAWhile(engines, state, now);
}

describe('the balance of closed hours', () => {
  test('counts what is missing and what is too much, of all environments', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { client } = clickhouse;
    const engines = { database: database.database, clickHouse: client };
    await finishPartition(database.database, AT);
    const hours = [9, 10, 11].map(
      (hour) => `2026-10-01T${String(hour).padStart(2, '0')}:00:00.000Z`,
    );
    const batch = { source: 'log:0', start: 10, end: 20 };
    const events = hours.map((hour, index) => event(10 + index, hour));
    await storeLogEvents(client, api.environment, events);
    for (const hour of hours) {
      await storeAccepted(client, api.environment, { ...batch, hour, events: 1 });
    }
    expect(await balanceClosedHours(engines, NOW)).toBe(0);
    // Of the hour that is not over, of an hour before: no matter.
    for (const hour of ['2026-10-01T12:00:00.000Z', '2026-10-01T08:00:00.000Z']) {
      await storeAccepted(client, api.environment, { ...batch, hour, events: 7 });
    }
    expect(await balanceClosedHours(engines, NOW)).toBe(0);
    const other = { tenantId: 'tenant_other', environmentId: 'env_other' };
    const lost = { ...batch, hour: hours[0] ?? '', events: 2 };
    await storeAccepted(client, other, lost);
    expect(await balanceClosedHours(engines, NOW)).toBe(2);
    await storeLogEvents(client, api.environment, [{ ...event(15, hours[1] ?? ''), id: 'more' }]);
    expect(await balanceClosedHours(engines, NOW)).toBe(3);
  });
});

describe('the balance while batches are written', () => {
  const OTHER = { tenantId: 'tenant_other', environmentId: 'env_other' };
  const [FIRST, SECOND] = ['2026-10-01T10:00:00.000Z', '2026-10-01T11:00:00.000Z'];

  test.for([0, 1])(
    'is 0 at every step of a batch, beside a batch of another partition, %i steps ahead',
    async (ahead, { api, database, clickhouse }) => {
      const { client } = clickhouse;
      const engines = { database: database.database, clickHouse: client };
      /** A batch of two environments and hours, with a duplicate: each insert, and the finish. */
      const stepsOf = (partition: number, start: number): (() => Promise<void>)[] => {
        const at = { logId: 'log', partition };
        const place = (offset: number) => ({ ...at, offset });
        const id = (text: string): string => `${text}${partition}-${start}`;
        const accepted = { source: `log:${partition}`, start, end: start + 10 };
        return [
          async () => {
            const one = { ...event(start, FIRST), id: id('a'), place: place(start) };
            const two = { ...event(start + 1, SECOND), id: id('b'), place: place(start + 1) };
            await storeLogEvents(client, api.environment, [one, two]);
            await storeLogEvents(client, OTHER, [{ ...one, place: place(start + 2) }]);
          },
          () =>
            storeLogDuplicates(client, api.environment, [
              { id: id('a'), receivedAt: SECOND, payload: null, place: place(start + 3) },
            ]),
          // In one insert, as the aggregator writes them.
          () =>
            storeAllAccepted(client, [
              { ...accepted, environment: api.environment, hour: FIRST, events: 1 },
              { ...accepted, environment: api.environment, hour: SECOND, events: 2 },
              { ...accepted, environment: OTHER, hour: FIRST, events: 1 },
            ]),
          () => finishPartition(database.database, { ...at, nextOffset: start + 10 }),
        ];
      };
      await finishPartition(database.database, { logId: 'log', partition: 0, nextOffset: 0 });
      await finishPartition(database.database, { logId: 'log', partition: 1, nextOffset: 0 });
      const [these, others] = [0, 1].map((partition) =>
        [0, 10, 20].flatMap((start) => stepsOf(partition, start)),
      );
      const balances: number[] = [];
      for (let step = -ahead; step < 12; step += 1) {
        await these?.[step]?.();
        await others?.[step + ahead]?.();
        balances.push(await balanceClosedHours(engines, NOW));
      }
      expect(balances).toEqual(balances.map(() => 0));
    },
  );

  test('counts rows of an earlier release by the batch that they name', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { client } = clickhouse;
    const engines = { database: database.database, clickHouse: client };
    await finishPartition(database.database, AT);
    const row = { source: 'log:0', start: 10, end: 20, hour: FIRST, isSingle: true };
    await storeLogEvents(client, api.environment, [event(10, FIRST), event(25, FIRST)]);
    await storeAccepted(client, api.environment, { ...row, events: 1 });
    await storeAccepted(client, api.environment, { ...row, start: 20, end: 30, events: 7 });
    expect(await balanceClosedHours(engines, NOW)).toBe(0);
    await storeAccepted(client, api.environment, { ...row, start: 0, end: 10, events: 3 });
    expect(await balanceClosedHours(engines, NOW)).toBe(3);
  });

  test('finds the usage of a finished batch that was lost, though it is the last', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { client } = clickhouse;
    const engines = { database: database.database, clickHouse: client };
    await finishPartition(database.database, AT);
    await storeLogEvents(client, api.environment, [event(10, FIRST), event(15, FIRST)]);
    const batch = { source: 'log:0', start: 10, end: 15, hour: FIRST };
    await storeAccepted(client, api.environment, { ...batch, events: 1 });
    expect(await balanceClosedHours(engines, NOW)).toBe(1);
  });
});

describe('the recount of meters', () => {
  test('finds a minute row that no event is behind, and an event without a row', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { client } = clickhouse;
    const engines = { database: database.database, clickHouse: client };
    const meter = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
    const { id: meterId } = await api.make('/v1/meters', meter);
    const generation = await generationOf(database.database, meterId);
    const drift = async () => {
      const state = beginRecounts();
      await recountAll(engines, state);
      return sumOfDrifts(state);
    };
    const addMinute = (customer: string, minute: string, events: number) =>
      insertLines(client, 'usage_minute_v1', [
        JSON.stringify({
          tenant_id: api.environment.tenantId,
          environment_id: api.environment.environmentId,
          customer_key: `e:${customer}`,
          meter_id: meterId,
          generation,
          minute,
          source: '',
          group_key: '',
          event_count: events,
        }),
      ]);
    await finishPartition(database.database, AT);
    const minutes = [0, 1, 2, 3, 4, 5].map((n) => `2026-10-01 0${7 + Math.floor(n / 2)}:0${n}:00`);
    for (const [n, minute] of minutes.entries()) {
      const stored = event(n, `${minute.replace(' ', 'T').slice(0, -2)}30.000Z`);
      await storeLogEvents(client, api.environment, [stored]);
      await addMinute(stored.customer.externalCustomerId ?? '', minute, 1);
    }
    expect(await drift()).toBe(0);
    // Not finished: its minute row may or may not be there.
    await storeLogEvents(client, api.environment, [event(25, '2026-10-01T10:00:00.000Z')]);
    expect(await drift()).toBe(0);
    await addMinute('c1', '2026-10-01 10:00:00', 1);
    expect(await drift()).toBe(0);
    await addMinute('c1', '2026-10-01 10:00:00', 3);
    expect(await drift()).toBe(3);
    await storeLogEvents(client, api.environment, [event(18, '2026-10-01T11:00:00.000Z')]);
    expect(await drift()).toBe(4);
    const state = beginRecounts();
    const hours = ['10', '11'].map((hour) => Date.parse(`2026-10-01T${hour}:00:00.000Z`));
    const group = expect.any(Number) as number;
    // Found again in the next round, and no more when the hour is too long ago.
    for (const [now, events] of [
      [NOW, [3, 1]],
      [NOW, [3, 1]],
      [NOW + 4 * HOUR_MS, [1]],
    ] as const) {
      await recountAll(engines, state, now);
      const found = hours
        .slice(-events.length)
        .map((hourMs, at) => ({ meterId, hourMs, group, events: events[at] }));
      expect(state.drifts).toEqual(found);
    }
  });

  test('holds filters and the offsets at which meters ended against the events', async ({
    api,
    database,
    clickhouse,
  }) => {
    const engines = { database: database.database, clickHouse: clickhouse.client };
    const filters = [
      { key: 'status', values: ['200', '201'] },
      { key: 'method', values: ['GET', '200'] },
    ];
    const ended = [10, 20, 20].map((offset) => [
      { ...AT, nextOffset: offset },
      { ...AT, partition: 1, nextOffset: offset + 1 },
    ]);
    const meterIds: string[] = [];
    for (const [at, bounds] of ended.entries()) {
      const meter = { name: `M${at}`, event_name: 'call', aggregation: { type: 'COUNT' }, filters };
      meterIds.push((await api.make('/v1/meters', meter)).id);
      await completeBackfills(database.database);
      for (const bound of bounds) await finishPartition(database.database, bound);
      // The last one goes on.
      if (at < 2) expect((await api.call('DELETE', `/v1/meters/${meterIds[at]}`)).status).toBe(200);
    }
    for (const partition of [0, 1]) {
      await finishPartition(database.database, { ...AT, partition, nextOffset: 40 });
    }
    const properties = [
      { status: '200', method: 'GET' },
      { status: '201', method: '200' },
      { status: 'GET', method: '201' },
      { status: '200' },
    ];
    // In each of two partitions, at each offset from 0 to 39: half of the events match.
    const events = [0, 1].flatMap((partition) =>
      Array.from({ length: 40 }, (_none, offset) => ({
        ...event(offset, '2026-10-01T10:00:00.000Z'),
        id: `p${partition}-${offset}`,
        place: { ...AT, partition, offset },
        properties: properties[offset % 4] ?? {},
      })),
    );
    await storeLogEvents(clickhouse.client, api.environment, events);
    const state = beginRecounts();
    await recountAll(engines, state);
    const missing = meterIds.map((meterId) =>
      state.drifts.reduce((sum, one) => sum + (one.meterId === meterId ? one.events : 0), 0),
    );
    // No minute row holds any of them. Counted by hand: 0, 1, 4, 5, ... below 10 and 11.
    expect(missing).toEqual([6 + 6, 10 + 11, 20 + 20]);
  });

  test('finds in small parts what it finds at once', async ({ api, database, clickhouse }) => {
    const engines = { database: database.database, clickHouse: clickhouse.client };
    const meter = { event_name: 'call', aggregation: { type: 'COUNT' } };
    for (const name of ['A', 'B', 'C']) await api.make('/v1/meters', { name, ...meter });
    // Events that no minute row holds: 12 of each of 10 customers, in each of three hours.
    const events = Array.from({ length: 360 }, (_none, at) => ({
      ...event(at, `2026-10-01T0${7 + (at % 3)}:00:00.000Z`),
      customer: { externalCustomerId: `c${Math.floor(at / 3) % 10}` },
    }));
    await finishPartition(database.database, { ...AT, nextOffset: 400 });
    await storeLogEvents(clickhouse.client, api.environment, events);
    const [whole, parts] = [beginRecounts(), { ...beginRecounts(), metersMax: 2, groupsMax: 1 }];
    for (const state of [whole, parts]) await recountAll(engines, state);
    expect(sumOfDrifts(whole)).toBe(3 * 360);
    const inOrder = ({ drifts }: typeof whole) =>
      drifts.map((drift) => JSON.stringify(drift)).sort();
    expect(inOrder(parts)).toEqual(inOrder(whole));
  });

  test('takes fewer meters at a time after a failure, and leaves out one that fails by itself', async ({
    api,
    database,
    clickhouse,
  }) => {
    const meter = { event_name: 'call', aggregation: { type: 'COUNT' } };
    const ids: string[] = [];
    for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) {
      ids.push((await api.make('/v1/meters', { name, ...meter })).id);
    }
    const [first = ''] = ids;
    const asked: number[] = [];
    const recounted = new Set<string>();
    const slow: ClickHouseQueries = {
      visitRows: (...query) => clickhouse.client.visitRows(...query),
      query: (select, parameters, row) => {
        const text = JSON.stringify([select, parameters]);
        const wanted = ids.filter((id) => text.includes(id));
        asked.push(wanted.length);
        if (wanted.length > 2 || wanted.includes(first)) {
          const outage = { dependency: 'clickhouse', isRetryable: true } as const;
          throw new DependencyError('ClickHouse: Timeout error.', outage);
        }
        for (const id of wanted) recounted.add(id);
        return clickhouse.client.query(select, parameters, row);
      },
    };
    const engines = { database: database.database, clickHouse: slow };
    const state = { ...beginRecounts(), metersMax: 6, groupsMax: 2 };
    // More calls than turns are needed, since each may have time for one turn only.
    for (let call = 0; call < 200 && recounted.size < 5; call += 1) {
      await recountForAWhile(engines, state, NOW).catch(() => undefined);
    }
    expect([...recounted].sort()).toEqual(ids.slice(1).sort());
    // First fewer customers, then fewer meters.
    expect(asked.slice(0, 4)).toEqual([6, 6, 3, 1]);
  });
});
