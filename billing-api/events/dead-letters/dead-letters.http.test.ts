import { describe, expect } from 'vitest';
import type { ClickHouse } from '../../../clickhouse/client.js';
import type { Environment } from '../../../contract/environment.js';
import { mergeRecords } from '../../../contract/records/record-parts.js';
import { decodeEventRecord, encodeEventRecord } from '../../../contract/usage-event.js';
import { ownerDatabase } from '../../../load-tests/harness/owner.js';
import { systemClock } from '../../../runtime/clock.js';
import { makeKey, test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { usageEventOf } from '../../testing/log-rows.js';
import { createDeadLetters } from './dead-letters-store.js';
import { readDeadLetters } from './read-dead-letters.js';
import { replayAnyDeadLetters } from './replay-dead-letters.js';
import { insertLines } from '../../testing/write-usage-minutes.js';

const PATH = '/v1/events/dead-letters';
const REPLAY = `${PATH}/replay`;
const OPERATOR = { kind: 'operator', name: 'ada' } as const;

/** A record that today's decoder reads: an older release would have made it a dead letter. */
function goodRecord(environment: Environment, ids: readonly string[]): string {
  const events = ids.map((id) =>
    usageEventOf({
      id,
      at: '2026-10-01T10:00:00.000Z',
      name: 'call',
      customer: { externalCustomerId: 'acme' },
      source: '',
      properties: { region: 'eu' },
    }),
  );
  return encodeEventRecord({ environment, receivedAtMs: Date.UTC(2026, 9, 1, 10), events });
}

type Letter = { readonly offset: number; readonly reason: string; readonly payload: string };

async function storeLetters(client: ClickHouse, letters: readonly Letter[]): Promise<void> {
  const rows = letters.map(({ offset, reason, payload }) =>
    JSON.stringify({
      log_id: 'log',
      log_partition: 3,
      log_offset: offset,
      reason,
      payload,
      appended_at: `2026-10-01 10:00:0${offset}.000`,
    }),
  );
  await insertLines(client, 'dead_letters_v1', rows);
}

/** Letters of the caller, of somebody else, and of nobody. */
function lettersOf({ tenantId: t, environmentId: e }: Environment, other: Environment): Letter[] {
  const theirs = { t: other.tenantId, e: other.environmentId };
  return [
    { offset: 1, reason: 'unknown_version', payload: JSON.stringify({ v: 9, t, e, events: [] }) },
    {
      offset: 2,
      reason: 'malformed_event',
      payload: goodRecord({ tenantId: t, environmentId: e }, ['a', 'b']),
    },
    { offset: 3, reason: 'not_json', payload: `{"v":1,"t":"${t}","e":"${e}","r":1,"events":[` },
    { offset: 4, reason: 'unknown_version', payload: JSON.stringify({ v: 9, ...theirs }) },
    { offset: 5, reason: 'not_json', payload: 'no record at all' },
    {
      offset: 6,
      reason: 'malformed_record',
      payload: JSON.stringify({ v: 1, t, e: theirs.e, events: 1 }),
    },
  ];
}

type Item = { readonly id: string };
const idsOf = (items: readonly Item[]): string[] => items.map(({ id }) => id);

/** Ids of all events in the log. */
async function eventsInLog(api: BillingUnderTest): Promise<string[]> {
  const reader = await api.eventLog.reader();
  const ids: string[] = [];
  for (let partition = 0; partition < reader.identity.partitionCount; partition += 1) {
    const { endOffset } = await reader.bounds(partition);
    const limits = { recordsMax: 100, bytesMax: 1_000_000, waitMs: 0 };
    const records =
      endOffset === 0 ? [] : await reader.read({ partition, fromOffset: 0, ...limits });
    for (const { value } of records) {
      const record = decodeEventRecord(value);
      if (typeof record !== 'string') ids.push(...record.events.map(({ eventId }) => eventId));
    }
  }
  return ids.sort();
}

describe('GET /events/dead-letters', () => {
  test('shows the letters that name the environment, newest first', async ({
    api,
    database,
    clickhouse,
  }) => {
    const other = await makeKey(database.database, {});
    const letters = lettersOf(api.environment, other.environment);
    await storeLetters(clickhouse.client, letters);
    // The aggregator may write a letter again: it is one and the same.
    await storeLetters(clickhouse.client, letters.slice(0, 1));
    const { status, body } = await api.call('GET', PATH);
    expect(status).toBe(200);
    expect(body.pagination).toEqual({ limit: 50, offset: 0, total: 3 });
    expect(idsOf(body.items)).toEqual(['log:3:3', 'log:3:2', 'log:3:1']);
    expect(body.items[2]).toEqual({
      id: 'log:3:1',
      log_id: 'log',
      partition: 3,
      offset: 1,
      reason: 'unknown_version',
      appended_at: '2026-10-01T10:00:01.000Z',
      payload: letters[0]?.payload,
      payload_bytes: letters[0]?.payload.length,
      replays: [],
    });
    const page = (await api.call('GET', `${PATH}?limit=1&offset=1`)).body;
    expect(idsOf(page.items)).toEqual(['log:3:2']);
    expect(page.pagination.total).toBe(3);
    const range = 'start_time=2026-10-01T10:00:02Z&end_time=2026-10-01T10:00:03Z';
    expect(idsOf((await api.call('GET', `${PATH}?${range}`)).body.items)).toEqual(['log:3:2']);
    const headers = { 'x-api-key': other.apiKey };
    expect(idsOf((await api.call('GET', PATH, { headers })).body.items)).toEqual(['log:3:4']);
  });

  test('cuts a long payload, and refuses what breaks a rule', async ({ api, clickhouse }) => {
    const { tenantId: t, environmentId: e } = api.environment;
    const payload = JSON.stringify({ v: 9, t, e, x: 'ü'.repeat(10_000) });
    await storeLetters(clickhouse.client, [{ offset: 1, reason: 'unknown_version', payload }]);
    const [letter] = (await api.call('GET', PATH)).body.items;
    expect(letter.payload).toBe(payload.slice(0, 4_096));
    expect(letter.payload_bytes).toBe(Buffer.byteLength(payload));
    for (const [query, member] of [
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['offset=-1', 'offset'],
      ['start_time=x', 'start_time'],
      ['start_time=2026-10-02T00:00:00Z&end_time=2026-10-01T00:00:00Z', 'end_time'],
    ]) {
      const { status, body } = await api.call('GET', `${PATH}?${query}`);
      expect([query, status, Object.keys(body.details)]).toEqual([query, 400, [member]]);
    }
  });
});

describe('POST /events/dead-letters/replay', () => {
  test('appends a record that was too large in parts, and refuses an event that is', async ({
    api,
    clickhouse,
  }) => {
    const ids = Array.from({ length: 1_001 }, (_, index) => `id-${index}`);
    const reason = 'record_too_large';
    await storeLetters(clickhouse.client, [
      { offset: 1, reason, payload: goodRecord(api.environment, ids) },
      { offset: 2, reason, payload: goodRecord(api.environment, ['x'.repeat(500_000)]) },
    ]);
    const body = { ids: ['log:3:1', 'log:3:2'] };
    expect((await api.call('POST', REPLAY, { body })).body.items).toEqual([
      { id: 'log:3:1', status: 'replayed', reason: null, events: 1_001 },
      { id: 'log:3:2', status: 'refused', reason, events: 0 },
    ]);
    expect((await eventsInLog(api)).toSorted()).toEqual(ids.toSorted());
  });

  test('appends what can be decoded now, refuses the rest, and keeps a note of it', async ({
    api,
    database,
    clickhouse,
    clock,
  }) => {
    clock.set('2026-10-05T00:00:00.000Z');
    const other = await makeKey(database.database, {});
    await storeLetters(clickhouse.client, lettersOf(api.environment, other.environment));
    const ids = ['log:3:1', 'log:3:2', 'log:3:3', 'log:3:2'];
    const { status, body } = await api.call('POST', REPLAY, { body: { ids } });
    expect(status).toBe(200);
    expect(body.items).toEqual([
      { id: 'log:3:1', status: 'refused', reason: 'unknown_version', events: 0 },
      { id: 'log:3:2', status: 'replayed', reason: null, events: 2 },
      { id: 'log:3:3', status: 'refused', reason: 'not_json', events: 0 },
    ]);
    expect(await eventsInLog(api)).toEqual(['a', 'b']);
    const replay = { replayed_at: '2026-10-05T00:00:00.000Z', replayed_by: api.userId, events: 2 };
    const replays = async () =>
      (await api.call('GET', PATH)).body.items.map(
        (item: { readonly replays: unknown }) => item.replays,
      );
    expect(await replays()).toEqual([[], [replay], []]);
    // Once more is harmless: the ids count once. With a key it is not even done.
    const headers = { 'idempotency-key': 'again' };
    for (let time = 0; time < 2; time += 1) {
      await api.call('POST', REPLAY, { body: { ids: ['log:3:2'] }, headers });
    }
    expect(await eventsInLog(api)).toEqual(['a', 'a', 'b', 'b']);
    expect(await replays()).toEqual([[], [replay, replay], []]);
  });

  test('knows no letter of others, and then replays none', async ({
    api,
    database,
    clickhouse,
  }) => {
    const other = await makeKey(database.database, {});
    await storeLetters(clickhouse.client, lettersOf(api.environment, other.environment));
    for (const id of [
      'log:3:4',
      'log:3:5',
      'log:3:6',
      'log:3:7',
      'nonsense',
      `${'l'.repeat(65)}:0:0`,
    ]) {
      const { status, body } = await api.call('POST', REPLAY, { body: { ids: ['log:3:2', id] } });
      expect([id, status, body.code]).toEqual([id, 404, 'not_found']);
    }
    expect(await eventsInLog(api)).toEqual([]);
    const many = Array.from({ length: 101 }, (_, index) => `log:3:${index}`);
    for (const ids of [[], many, 'log:3:2', undefined]) {
      const { status, body } = await api.call('POST', REPLAY, { body: { ids } });
      expect([status, Object.keys(body.details)]).toEqual([400, ['ids']]);
    }
    const { environment } = api;
    const reader = await makeKey(database.database, { roles: ['event_reader'], environment });
    const headers = { 'x-api-key': reader.apiKey };
    const refused = await api.call('POST', REPLAY, { body: { ids: ['log:3:2'] }, headers });
    expect(refused.status).toBe(403);
    expect((await api.call('GET', PATH, { headers })).status).toBe(200);
  });

  test('lets an operator see and replay the letters of everybody', async ({
    api,
    database,
    clickhouse,
  }) => {
    const other = await makeKey(database.database, {});
    await storeLetters(clickhouse.client, [
      ...lettersOf(api.environment, other.environment),
      { offset: 7, reason: 'malformed_event', payload: goodRecord(other.environment, ['c']) },
    ]);
    const stores = {
      database: await ownerDatabase(database.url),
      deadLetters: createDeadLetters(clickhouse.client),
      eventLog: api.eventLog,
      clock: systemClock,
    };
    const results = await replayAnyDeadLetters(stores, OPERATOR, ['log:3:5', 'log:3:2', 'log:3:7']);
    expect(results).toEqual([
      { id: 'log:3:5', reason: 'not_json', events: 0 },
      { id: 'log:3:2', reason: null, events: 2 },
      { id: 'log:3:7', reason: null, events: 1 },
    ]);
    expect(await eventsInLog(api)).toEqual(['a', 'b', 'c']);
    const page = await readDeadLetters(stores, null, {});
    expect(page).toMatchObject({ total: 7 });
    const mine = (await api.call('GET', PATH)).body.items;
    expect(mine[1].replays).toMatchObject([{ replayed_by: 'operator:ada', events: 2 }]);
  });

  test('shows a letter with parts of several tenants to none, and to an operator', async ({
    api,
    database,
    clickhouse,
  }) => {
    const other = await makeKey(database.database, {});
    const parts = [goodRecord(api.environment, ['a']), goodRecord(other.environment, ['b', 'c'])];
    const letter = { offset: 8, reason: 'unknown_version', payload: mergeRecords(parts) };
    await storeLetters(clickhouse.client, [letter]);
    expect((await api.call('GET', PATH)).body.items).toEqual([]);
    expect((await api.call('POST', REPLAY, { body: { ids: ['log:3:8'] } })).status).toBe(404);
    const stores = {
      database: await ownerDatabase(database.url),
      deadLetters: createDeadLetters(clickhouse.client),
      eventLog: api.eventLog,
      clock: systemClock,
    };
    expect(await replayAnyDeadLetters(stores, OPERATOR, ['log:3:8'])).toEqual([
      { id: 'log:3:8', reason: null, events: 3 },
    ]);
    expect(await eventsInLog(api)).toEqual(['a', 'b', 'c']);
  });
});
