import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { makeKey, test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { finishPartition } from '../../testing/finish-partition.js';
import {
  pretendLag,
  sendEvents,
  storeAccepted,
  storeLogEvents,
  storeLogDuplicates,
  type LogEvent,
} from '../../testing/log-rows.js';
import type { ClickHouse } from '../../../clickhouse/client.js';
import { eventKey, partitionOf } from '../../../contract/event-key.js';

const PATH = '/v1/events/reconciliation';
const HOURS = ['2026-10-01T10:00:00.000Z', '2026-10-01T11:00:00.000Z'] as const;
const RANGE = 'start_time=2026-10-01T10:00:00Z&end_time=2026-10-01T12:00:00Z';
/** Batches below are finished. */
const NEXT_OFFSET = 40;

type Row = LogEvent & { readonly hour: number; readonly offset: number };

const event = (offset: number, hour: number, members: Partial<LogEvent> = {}): Row => ({
  id: `e${offset}`,
  at: '2026-09-01T00:00:00.000Z',
  receivedAt: `2026-10-01T1${hour}:${String(offset % 60).padStart(2, '0')}:00.000Z`,
  name: 'call',
  customer: { externalCustomerId: 'acme' },
  source: '',
  properties: { region: 'eu' },
  place: { logId: 'log', partition: 0, offset },
  hour,
  offset,
  ...members,
});

/** Events of every outcome, in finished batches and in one that is being written. */
const ROWS: readonly Row[] = [
  event(1, 0),
  event(2, 0, { customer: { customerId: 'ghost' } }),
  event(11, 0),
  event(12, 0, { properties: { region: 'us' } }),
  event(13, 0, { name: 'login' }),
  event(14, 0, { customer: { externalCustomerId: 'ghost' }, name: 'login' }),
  event(15, 1, { name: 'ended' }),
  event(21, 1, { name: 'ended' }),
  event(22, 1),
  event(23, 1, { properties: {} }),
  // Not finished: a batch that is being written.
  event(41, 1),
];
const DUPLICATES = [
  { offset: 3, hour: 0, isConflict: false },
  { offset: 16, hour: 0, isConflict: true },
  { offset: 17, hour: 1, isConflict: false },
  { offset: 42, hour: 1, isConflict: true },
];

const isFinished = ({ offset }: { readonly offset: number }): boolean => offset < NEXT_OFFSET;

/** What an event becomes, told by its members: no filter of the product is asked. */
function outcomeOf(row: Row): 'counted' | 'customer' | 'meter' {
  const isKnown = row.customer.externalCustomerId === 'acme';
  if (!isKnown) return 'customer';
  if (row.name === 'ended') return row.offset < 20 ? 'counted' : 'meter';
  return row.name === 'call' && row.properties['region'] === 'eu' ? 'counted' : 'meter';
}

function expectedHour(hour: number, waiting: number) {
  const rows = ROWS.filter((row) => isFinished(row) && row.hour === hour);
  const duplicates = DUPLICATES.filter(
    (duplicate) => isFinished(duplicate) && duplicate.hour === hour,
  );
  const withOutcome = (outcome: string) => rows.filter((row) => outcomeOf(row) === outcome).length;
  return {
    hour: HOURS[hour],
    accepted: rows.length + duplicates.length + waiting,
    counted: withOutcome('counted'),
    unmatched: withOutcome('customer') + withOutcome('meter'),
    unmatched_customer: withOutcome('customer'),
    unmatched_meter: withOutcome('meter'),
    duplicate: duplicates.length,
    conflict: duplicates.filter(({ isConflict }) => isConflict).length,
    erased: 0,
    expired: 0,
    withdrawn: 0,
    pending: waiting,
    difference: 0,
  };
}

async function storeHours(api: BillingUnderTest, client: ClickHouse): Promise<void> {
  const { environment } = api;
  await storeLogEvents(client, environment, ROWS);
  const duplicates = DUPLICATES.map(({ offset, hour, isConflict }) => ({
    id: 'e1',
    receivedAt: `2026-10-01T1${hour}:59:59.999Z`,
    payload: isConflict ? { a: 1 } : null,
    place: { logId: 'log', partition: 0, offset },
  }));
  await storeLogDuplicates(client, environment, duplicates);
  // The aggregator may write a duplicate again: it is one and the same.
  await storeLogDuplicates(client, environment, duplicates.slice(1, 2));
  // The last batch has stored events and duplicates and not yet its usage.
  for (const [start, end] of [
    [0, 20],
    [20, NEXT_OFFSET],
  ] as const) {
    for (const [hour, text] of HOURS.entries()) {
      const isOf = (row: { readonly offset: number; readonly hour: number }): boolean =>
        row.offset >= start && row.offset < end && row.hour === hour;
      const events = ROWS.filter(isOf).length + DUPLICATES.filter(isOf).length;
      if (events === 0) continue;
      await storeAccepted(client, environment, { source: 'log:0', start, end, hour: text, events });
    }
  }
}

describe('GET /events/reconciliation', () => {
  test('shows where every accepted event is, by hour of receipt', async ({
    api,
    database,
    clickhouse,
  }) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    const meter = { name: 'Calls', aggregation: { type: 'COUNT' } };
    const filters = [{ key: 'region', values: ['eu', 'ap'] }];
    await api.make('/v1/meters', { ...meter, event_name: 'call', filters });
    const ended = await api.make('/v1/meters', { ...meter, event_name: 'ended' });
    await finishPartition(database.database, { logId: 'log', partition: 0, nextOffset: 20 });
    expect((await api.call('DELETE', `/v1/meters/${ended.id}`)).status).toBeLessThan(300);
    await storeHours(api, clickhouse.client);
    const at = { logId: 'log', partition: 0, nextOffset: NEXT_OFFSET };
    await finishPartition(database.database, at);
    const waiting = [7, 8, 9].map((n) => event(n + 500, 1));
    await sendEvents(api, waiting);
    const other = await makeKey(database.database, {});
    await sendEvents({ ...api, environment: other.environment }, [event(600, 1)]);

    const { status, body } = await api.call('GET', `${PATH}?${RANGE}`);
    expect(status).toBe(200);
    const hours = [expectedHour(0, 0), expectedHour(1, waiting.length)];
    expect(body.items).toEqual(hours);
    for (const member of Object.keys(body.totals) as 'accepted'[]) {
      expect([member, body.totals[member]]).toEqual([
        member,
        hours.reduce((sum, hour) => sum + hour[member], 0),
      ]);
    }
    const theirs = await api.call('GET', `${PATH}?${RANGE}`, {
      headers: { 'x-api-key': other.apiKey },
    });
    expect(theirs.body.totals).toMatchObject({ accepted: 1, pending: 1, counted: 0, duplicate: 0 });
  });

  test('counts a batch that is stored and not yet finished once: not as pending too', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { logId, partitionCount } = (await api.eventLog.reader()).identity;
    const partition = 0;
    const inPartition = Array.from({ length: 200 }, (_, n) => event(n, 0)).filter(
      ({ id }) => partitionOf(eventKey(api.environment, id), partitionCount) === partition,
    );
    const sent = inPartition.slice(0, 3);
    await sendEvents(api, sent);
    await finishPartition(database.database, { logId, partition, nextOffset: 0 });
    const pending = async () => {
      const { body } = await api.call('GET', `${PATH}?${RANGE}`);
      const { accepted, pending: waiting, unmatched, difference } = body.totals;
      return { accepted, waiting, unmatched, difference };
    };
    expect(await pending()).toEqual({ accepted: 3, waiting: 3, unmatched: 0, difference: 0 });
    const stored = sent.slice(0, 2).map((row, offset) => ({
      ...row,
      place: { logId, partition, offset },
    }));
    await storeLogEvents(clickhouse.client, api.environment, stored);
    expect(await pending()).toEqual({ accepted: 3, waiting: 3, unmatched: 0, difference: 0 });
    const batch = { source: `${logId}:${partition}`, start: 0, end: 2, hour: HOURS[0], events: 2 };
    await storeAccepted(clickhouse.client, api.environment, batch);
    expect(await pending()).toEqual({ accepted: 3, waiting: 1, unmatched: 2, difference: 0 });
  });

  test('shows what was lost and what was doubled as a difference', async ({
    api,
    database,
    clickhouse,
  }) => {
    await storeHours(api, clickhouse.client);
    const at = { logId: 'log', partition: 0, nextOffset: NEXT_OFFSET };
    await finishPartition(database.database, at);
    const differences = async () =>
      (await api.call('GET', `${PATH}?${RANGE}`)).body.items.map(
        ({ difference }: { difference: number }) => difference,
      );
    expect(await differences()).toEqual([0, 0]);
    const lost = { source: 'log:0', start: 30, end: 31, hour: HOURS[0], events: 2 };
    await storeAccepted(clickhouse.client, api.environment, lost);
    expect(await differences()).toEqual([2, 0]);
    await storeLogEvents(clickhouse.client, api.environment, [event(35, 1, { id: 'doubled' })]);
    expect(await differences()).toEqual([2, -1]);
  });

  test('balances with what was erased, and says 503 while events are being erased', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { tenantId, environmentId } = api.environment;
    const owner = ownerOf(database.database);
    const setErasure = (finishedAt: string | null) =>
      owner.query(sql.type(z.unknown())`
        UPDATE event_erasures SET finished_at = ${finishedAt}::timestamptz`);
    const at = { logId: 'log', partition: 0, nextOffset: NEXT_OFFSET };
    await finishPartition(database.database, at);
    await storeLogEvents(clickhouse.client, api.environment, [event(1, 0)]);
    const accepted = { source: 'log:0', start: 0, end: 20, hour: HOURS[0], events: 6 };
    await storeAccepted(clickhouse.client, api.environment, accepted);
    await owner.query(sql.type(z.unknown())`
      INSERT INTO event_erasures (id, tenant_id, environment_id, customer, customer_keys, bounds,
        started_at)
      VALUES ('erasure_1', ${tenantId}, ${environmentId}, 'gone', '{e:gone}', '[]', now())`);
    await owner.query(sql.type(z.unknown())`
      INSERT INTO erased_events (erasure_id, tenant_id, environment_id, hour, events)
      VALUES ('erasure_1', ${tenantId}, ${environmentId}, ${HOURS[0]}::timestamptz, 5)`);
    const refused = await api.call('GET', `${PATH}?${RANGE}`);
    expect([refused.status, refused.body.code]).toEqual([503, 'service_unavailable']);
    // One that ends while the others are counted is no better.
    await setErasure('2100-01-01T00:00:00.000Z');
    expect((await api.call('GET', `${PATH}?${RANGE}`)).status).toBe(503);
    await setErasure('2026-01-01T00:00:00.000Z');
    const { status, body } = await api.call('GET', `${PATH}?${RANGE}`);
    expect([status, body.items[0]]).toMatchObject([200, { accepted: 6, erased: 5, difference: 0 }]);
    const other = await makeKey(database.database, {});
    const headers = { 'x-api-key': other.apiKey };
    const theirs = await api.call('GET', `${PATH}?${RANGE}`, { headers });
    expect(theirs.body.totals).toMatchObject({ accepted: 0, erased: 0, difference: 0 });
  });

  test('takes whole hours, the last day when none is named', async ({ api, clock }) => {
    clock.set('2026-10-02T10:20:00.000Z');
    const hoursOf = async (query: string): Promise<string[]> =>
      (await api.call('GET', `${PATH}${query}`)).body.items.map(
        ({ hour }: { hour: string }) => hour,
      );
    const day = await hoursOf('');
    expect([day.length, day[0], day.at(-1)]).toEqual([
      25,
      '2026-10-01T10:00:00.000Z',
      '2026-10-02T10:00:00.000Z',
    ]);
    expect(await hoursOf('?start_time=2026-10-01T10:59:59Z&end_time=2026-10-01T11:00:01Z')).toEqual(
      [HOURS[0], HOURS[1]],
    );
    const month = '?start_time=2026-09-01T00:00:00Z&end_time=2026-10-02T00:00:00Z';
    expect(await hoursOf(month)).toHaveLength(31 * 24);
    for (const [query, member] of [
      ['start_time=2026-09-01T00:00:00Z&end_time=2026-10-02T00:00:00.001Z', 'start_time'],
      ['start_time=2026-10-02T00:00:00Z&end_time=2026-10-01T00:00:00Z', 'end_time'],
      ['start_time=x', 'start_time'],
    ]) {
      const { status, body } = await api.call('GET', `${PATH}?${query}`);
      expect([query, status, Object.keys(body.details)]).toEqual([query, 400, [member]]);
    }
  });

  test('says 503 while too many events wait to be counted', async ({ api, database }) => {
    await pretendLag(database.database, api, 60_000);
    for (const path of [PATH, '/v1/events/lookup?id=x']) {
      const { status, headers, body } = await api.call('GET', path);
      expect([path, status, body.code, headers.get('retry-after')]).toEqual([
        path,
        503,
        'service_unavailable',
        '2',
      ]);
      expect(body.message).toContain('too many events are waiting');
    }
  });
});
