import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { waitingSessions } from '../../../load-tests/harness/waiting-sessions.js';
import type { Database } from '../../../sql/pool.js';
import { withSession } from '../../../sql/session.js';
import type { Answer, BillingUnderTest } from '../../testing/billing-harness.js';
import { makeSubscription, test } from '../../testing/billing-test.js';
import { readEffectiveMeters, type EffectiveMeter } from './effective-meters.js';

const EU = [{ key: 'region', values: ['eu'] }];
const US = [{ key: 'region', values: ['us'] }];
const AP = [{ key: 'region', values: ['ap'] }];
const METER = {
  name: 'Calls',
  event_name: 'call',
  aggregation: { type: 'COUNT' },
  filters: EU,
} as const;
const LOG = 'log_1';

const run = sql.type(z.unknown());

/** Two partitions, one of them with a batch that has an intent and is not finished. */
async function makePartitions(database: Database): Promise<void> {
  await ownerOf(database).query(run`
    INSERT INTO aggregator_checkpoints
      (log, partition, next_offset, intent_end, catalog_version, min_version)
    SELECT ${LOG}, partition, next_offset, intent_end, version, version
    FROM catalog_counter, (VALUES (0, 10, 15), (1, 20, NULL)) AS p (partition, next_offset, intent_end)`);
}

/** What the aggregator does at the end of a backfill. */
async function completeBackfill(database: Database, id: string, version: number): Promise<void> {
  await ownerOf(database).query(run`
    SELECT complete_meter_backfill(${id}, ${version}, attempts, 900 + ${version}, 15, 7)
    FROM meter_backfills WHERE meter_id = ${id} AND version = ${version}`);
}

async function failBackfill(database: Database, id: string): Promise<void> {
  await ownerOf(database).query(run`
    UPDATE meter_backfills SET status = 'failed', error = 'no room'
    WHERE meter_id = ${id} AND status = 'running'`);
}

function put(api: BillingUnderTest, id: string, body: unknown): Promise<Answer> {
  return api.call('PUT', `/v1/meters/${id}`, { body });
}

async function readingOf(
  database: Database,
  api: BillingUnderTest,
  id: string,
): Promise<Pick<EffectiveMeter, 'version' | 'filters' | 'generations'>> {
  const reading = (await readEffectiveMeters(database, api.environment, [id])).get(id);
  if (reading === undefined) throw new Error('no reading');
  const { version, filters, generations } = reading;
  return { version, filters, generations };
}

/** Versions that the live stream feeds. */
async function fedVersions(database: Database, id: string): Promise<readonly number[]> {
  const rows = await ownerOf(database).any(sql.type(z.object({ version: z.number() }))`
    SELECT fed.version FROM meter_versions AS fed, catalog_counter AS catalog
    WHERE meter_id = ${id} AND activated_in <= catalog.version
      AND (retired_in IS NULL OR retired_in > catalog.version)
    ORDER BY fed.version`);
  return rows.map((row) => row.version);
}

/** Resolves when so many statements of the database wait for a lock. */
async function untilWaiting(database: Database, statements: number): Promise<void> {
  await vi.waitFor(
    async () => {
      expect(await waitingSessions(ownerOf(database))).toBe(statements);
    },
    { timeout: 30_000, interval: 20 },
  );
}

/** A meter that readers see in version 2: it was changed once, and the change was applied. */
async function makeChangedMeter(database: Database, api: BillingUnderTest): Promise<string> {
  const { id } = await api.make('/v1/meters', METER);
  await makePartitions(database);
  expect((await put(api, id, { filters: US })).status).toBe(200);
  await completeBackfill(database, id, 2);
  return id;
}

describe('PUT /meters/{id}', () => {
  test('changes name and metadata without a new version', async ({
    api,
    database: { database },
  }) => {
    const meter = await api.make('/v1/meters', { ...METER, metadata: { team: 'core' } });
    await makePartitions(database);
    const renamed = await put(api, meter.id, { name: ' Requests ' });
    expect([renamed.status, renamed.headers.get('etag')]).toEqual([200, '"2"']);
    const { updated_at: updatedAt } = renamed.body;
    expect(renamed.body).toEqual({ ...meter, name: 'Requests', updated_at: updatedAt });
    const cleared = await put(api, meter.id, { metadata: null });
    expect(cleared.body).toMatchObject({ name: 'Requests', metadata: {}, version: 1 });
    expect(await fedVersions(database, meter.id)).toEqual([1]);
  });

  test('starts nothing when the filters stay what they were', async ({ api, database }) => {
    const filters = [...EU, { key: 'plan', values: ['a', 'b'] }];
    const { id } = await api.make('/v1/meters', { ...METER, filters });
    await makePartitions(database.database);
    const same = [{ key: 'plan', values: ['b', 'a', 'b'] }, ...EU];
    const { status, body } = await put(api, id, { filters: same });
    expect([status, body.version, body.backfill.status]).toEqual([200, 1, 'none']);
    expect(body.filters).toEqual(filters);
  });

  test('switches at once when no event came before', async ({ api, database: { database } }) => {
    const { id } = await api.make('/v1/meters', METER);
    const { body } = await put(api, id, { filters: null });
    expect(body).toMatchObject({ version: 2, filters: [], backfill: { status: 'none' } });
    expect(await readingOf(database, api, id)).toMatchObject({ version: 2, filters: [] });
  });

  test('lets readers see the previous version until the change is applied', async ({
    api,
    database: { database },
  }) => {
    const { id } = await api.make('/v1/meters', METER);
    await makePartitions(database);
    const before = await readingOf(database, api, id);
    const { body, headers } = await put(api, id, { filters: US });
    expect(headers.get('etag')).toBe('"2"');
    expect(body).toMatchObject({ version: 2, filters: US, backfill: { status: 'running' } });
    expect(await readingOf(database, api, id)).toEqual(before);
    expect(await fedVersions(database, id)).toEqual([1, 2]);
    await completeBackfill(database, id, 2);
    const after = await readingOf(database, api, id);
    expect(after).toMatchObject({ version: 2, filters: US });
    expect(after.generations).toHaveLength(2);
    expect(after.generations).toContain(902);
    expect((await api.call('GET', `/v1/meters/${id}`)).body.backfill).toMatchObject({
      status: 'completed',
      events_scanned: 15,
      events_matched: 7,
      error: null,
    });
    expect(await fedVersions(database, id)).toEqual([1, 2]);
  });

  test('splits stored from coming events at the end of the intent', async ({
    api,
    database: { database },
  }) => {
    const { id } = await api.make('/v1/meters', METER);
    await makePartitions(database);
    await put(api, id, { filters: US });
    const rows = await ownerOf(database).any(sql.type(z.object({ from: z.string() }))`
      SELECT live_from AS from FROM meter_start_offsets
      WHERE meter_id = ${id} AND version = 2 ORDER BY partition`);
    expect(rows.map((row) => row.from)).toEqual(['15', '20']);
    const { behind } = await ownerOf(database).one(sql.type(z.object({ behind: z.string() }))`
      SELECT count(*) AS behind FROM aggregator_checkpoints, catalog_counter
      WHERE min_version < version`);
    expect(behind).toBe('0');
  });

  test('answers 409 to other filters while a change is being applied, and to nothing else', async ({
    api,
    database: { database },
  }) => {
    const { id } = await api.make('/v1/meters', METER);
    await makePartitions(database);
    await put(api, id, { filters: US });
    for (const filters of [AP, EU]) {
      const { status, body } = await put(api, id, { filters });
      expect([status, body.code]).toEqual([409, 'version_conflict']);
    }
    expect((await put(api, id, { name: 'Other', filters: US })).status).toBe(200);
    await completeBackfill(database, id, 2);
    expect((await put(api, id, { filters: AP })).status).toBe(200);
  });

  test('takes a change back at once, and forth again', async ({ api, database: { database } }) => {
    const first = await api.make('/v1/meters', METER);
    const { id } = first;
    const eu = await readingOf(database, api, id);
    await makePartitions(database);
    await put(api, id, { filters: US });
    await completeBackfill(database, id, 2);
    const us = await readingOf(database, api, id);
    const back = await put(api, id, { filters: EU });
    expect(back.body).toMatchObject({ version: 3, filters: EU, backfill: first.backfill });
    expect(await readingOf(database, api, id)).toEqual({ ...eu, version: 3 });
    const forth = await put(api, id, { filters: US });
    expect(forth.body).toMatchObject({ version: 4, backfill: { status: 'completed' } });
    expect(await readingOf(database, api, id)).toEqual({ ...us, version: 4 });
    expect(await fedVersions(database, id)).toEqual([1, 2]);
  });

  test('feeds the version in sight and one other, never a third', async ({
    api,
    database: { database },
  }) => {
    const id = await makeChangedMeter(database, api);
    expect((await put(api, id, { filters: AP })).body.backfill.status).toBe('running');
    expect(await fedVersions(database, id)).toEqual([2, 3]);
    await completeBackfill(database, id, 3);
    const { body } = await put(api, id, { filters: EU });
    expect(body).toMatchObject({ version: 4, backfill: { status: 'running' } });
    expect((await readingOf(database, api, id)).version).toBe(3);
    expect(await fedVersions(database, id)).toEqual([3, 4]);
  });

  test('gives a failing change up for another, and takes it back at once', async ({
    api,
    database: { database },
  }) => {
    const id = await makeChangedMeter(database, api);
    await put(api, id, { filters: AP });
    await failBackfill(database, id);
    const failed = await api.call('GET', `/v1/meters/${id}`);
    expect(failed.body.backfill).toMatchObject({ status: 'failed', error: 'no room' });
    const again = await put(api, id, { filters: EU });
    expect(again.body).toMatchObject({ version: 4, backfill: { status: 'running', error: null } });
    await failBackfill(database, id);
    const back = await put(api, id, { filters: US });
    expect(back.body).toMatchObject({ version: 5, backfill: { status: 'completed' } });
    expect(await readingOf(database, api, id)).toMatchObject({ version: 5, filters: US });
    expect(await fedVersions(database, id)).toEqual([2]);
    await completeBackfill(database, id, 4);
    expect((await readingOf(database, api, id)).version).toBe(5);
  });

  test('counts anew what is taken back after its version was retired', async ({
    api,
    database: { database },
  }) => {
    const id = await makeChangedMeter(database, api);
    const retired = sql.type(z.object({ retired: z.number() }));
    const early = await ownerOf(database).one(retired`
      SELECT retire_unread_meter_versions(interval '1 hour', 10) AS retired`);
    expect(early.retired).toBe(0);
    const late = await ownerOf(database).one(retired`
      SELECT retire_unread_meter_versions(interval '0', 10) AS retired`);
    expect(late.retired).toBe(1);
    expect(await fedVersions(database, id)).toEqual([2]);
    const { body } = await put(api, id, { filters: EU });
    expect(body).toMatchObject({ version: 3, backfill: { status: 'running' } });
    expect((await readingOf(database, api, id)).version).toBe(2);
  });

  test('makes one new version of many simultaneous changes', async ({ api, database }) => {
    const { id } = await api.make('/v1/meters', METER);
    await makePartitions(database.database);
    const answers = await Promise.all(
      [US, AP, US, AP, US].map((filters) => put(api, id, { filters })),
    );
    const { body } = await api.call('GET', `/v1/meters/${id}`);
    expect(body.version).toBe(2);
    for (const answer of answers) {
      const isFirst = answer.status === 200;
      if (isFirst) expect(answer.body.filters).toEqual(body.filters);
      else expect([answer.status, answer.body.code]).toEqual([409, 'version_conflict']);
    }
  });

  test('answers 409 when If-Match names another version', async ({ api }) => {
    const { id } = await api.make('/v1/meters', METER);
    const putAt = (ifMatch: string, filters: unknown) =>
      api.call('PUT', `/v1/meters/${id}`, { body: { filters }, headers: { 'if-match': ifMatch } });
    expect((await putAt('"1"', US)).status).toBe(200);
    const late = await putAt('"1"', AP);
    expect([late.status, late.body.code]).toEqual([409, 'version_conflict']);
    expect((await putAt('"7", "2"', AP)).body.version).toBe(3);
  });

  test('answers 409 when If-Match names the version before a change of the name', async ({
    api,
  }) => {
    const { id } = await api.make('/v1/meters', METER);
    const rename = (name: string, ifMatch: string) =>
      api.call('PUT', `/v1/meters/${id}`, { body: { name }, headers: { 'if-match': ifMatch } });
    const first = await rename('Requests', '"1"');
    expect([first.status, first.headers.get('etag'), first.body.version]).toEqual([200, '"2"', 1]);
    const late = await rename('Hits', '"1"');
    expect([late.status, late.body.code]).toEqual([409, 'version_conflict']);
    const stale = { headers: { 'if-match': '"1"' } };
    expect((await api.call('GET', `/v1/meters/${id}`, stale)).status).toBe(409);
    expect((await rename('Hits', '"2"')).headers.get('etag')).toBe('"3"');
  });

  test('refuses what cannot be changed, and what breaks a rule, naming the member', async ({
    api,
  }) => {
    const { id } = await api.make('/v1/meters', METER);
    const cases = [
      ['event_name', { event_name: 'call' }],
      ['aggregation', { aggregation: { type: 'COUNT' } }],
      ['reset_usage', { reset_usage: 'NEVER' }],
      ['name', { name: ' ' }],
      ['name', { name: null }],
      ['filters.1.key', { filters: [...EU, ...US] }],
      ['filters.0.values', { filters: [{ key: 'a', values: [] }] }],
      ['metadata.a', { metadata: { a: {} } }],
      ['status', { status: 'archived' }],
      ['version', { version: 7 }],
    ] as const;
    for (const [member, change] of cases) {
      const { status, body } = await put(api, id, change);
      expect([member, status, body.code]).toEqual([member, 400, 'validation_error']);
      expect(Object.keys(body.details)).toContain(member);
    }
    expect((await api.call('GET', `/v1/meters/${id}`)).body.version).toBe(1);
    expect((await put(api, 'meter_x', { name: 'X' })).status).toBe(404);
  });

  test('repeats a change under its Idempotency-Key without a second version', async ({ api }) => {
    const { id } = await api.make('/v1/meters', METER);
    const options = { body: { filters: US }, headers: { 'idempotency-key': 'change-1' } };
    const first = await api.call('PUT', `/v1/meters/${id}`, options);
    const again = await api.call('PUT', `/v1/meters/${id}`, options);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    expect((await api.call('GET', `/v1/meters/${id}`)).body.version).toBe(2);
  });
});

describe('DELETE /meters/{id}', () => {
  test('archives the meter: it counts up to exact offsets and keeps what it has', async ({
    api,
    database: { database },
  }) => {
    const { id } = await api.make('/v1/meters', METER);
    await makePartitions(database);
    const before = await readingOf(database, api, id);
    const { status, body } = await api.call('DELETE', `/v1/meters/${id}`);
    expect([status, Object.keys(body)]).toEqual([200, ['message']]);
    expect((await api.call('GET', `/v1/meters/${id}`)).body.status).toBe('archived');
    expect(await fedVersions(database, id)).toEqual([]);
    expect(await readingOf(database, api, id)).toEqual(before);
    const reading = (await readEffectiveMeters(database, api.environment, [id])).get(id);
    expect(reading?.ends).toEqual([
      { log: LOG, partition: 0, countedBelow: 15 },
      { log: LOG, partition: 1, countedBelow: 20 },
    ]);
    const usage = { meter_id: id };
    expect((await api.call('POST', '/v1/events/usage/meter', { body: usage })).status).toBe(200);
  });

  test('lets a change that is being applied come to its end', async ({
    api,
    database: { database },
  }) => {
    const { id } = await api.make('/v1/meters', METER);
    await makePartitions(database);
    await put(api, id, { filters: US });
    expect((await api.call('DELETE', `/v1/meters/${id}`)).status).toBe(200);
    await completeBackfill(database, id, 2);
    expect(await readingOf(database, api, id)).toMatchObject({ version: 2, filters: US });
    expect(await fedVersions(database, id)).toEqual([]);
  });

  test('refuses while a price has not ended', async ({ api, clock }) => {
    const { meterId } = await makeSubscription(api);
    const { status, body } = await api.call('DELETE', `/v1/meters/${meterId}`);
    expect([status, body.code]).toEqual([400, 'invalid_operation']);
    const { id } = await api.make('/v1/meters', METER);
    const plan = await api.make('/v1/plans', { name: 'Ending' });
    clock.set('2026-03-01T00:00:00Z');
    const ends = { start_date: '2026-01-01T00:00:00Z', end_date: '2026-03-01T00:00:00.001Z' };
    const price = { entity_id: plan.id, currency: 'usd', meter_id: id, amount: '1', ...ends };
    await api.make('/v1/prices', price);
    expect((await api.call('DELETE', `/v1/meters/${id}`)).status).toBe(400);
    clock.set('2026-03-01T00:00:00.001Z');
    expect((await api.call('DELETE', `/v1/meters/${id}`)).status).toBe(200);
  });

  test('is final: no second time, no change, no new price or feature', async ({ api }) => {
    const { id } = await api.make('/v1/meters', METER);
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    await api.call('DELETE', `/v1/meters/${id}`);
    const refused = [
      await api.call('DELETE', `/v1/meters/${id}`),
      await put(api, id, { name: 'Back' }),
    ];
    for (const { status, body } of refused) {
      expect([status, body.code]).toEqual([400, 'invalid_operation']);
    }
    const price = { entity_id: plan.id, currency: 'usd', meter_id: id, amount: '1' };
    const feature = { name: 'Calls', type: 'metered', meter_id: id };
    for (const [path, body] of [
      ['/v1/prices', price],
      ['/v1/features', feature],
    ] as const) {
      const answer = await api.call('POST', path, { body });
      expect([answer.status, Object.keys(answer.body.details)]).toEqual([400, ['meter_id']]);
    }
    expect((await api.call('DELETE', '/v1/meters/meter_x')).status).toBe(404);
  });

  test('leaves an archived meter out of lists unless they ask for it', async ({ api }) => {
    const { id } = await api.make('/v1/meters', METER);
    await api.call('DELETE', `/v1/meters/${id}`);
    const list = async (query: string) =>
      (await api.call('GET', `/v1/meters?${query}`)).body.items.map((m: { id: string }) => m.id);
    expect(await list('event_name=call')).toEqual([]);
    expect(await list('event_name=call&status=archived')).toEqual([id]);
    expect(await list('event_name=other&status=archived')).toEqual([]);
  });

  test('waits for a price that is being made, and is then refused', async ({
    api,
    database: { url, database },
  }) => {
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const { id } = await api.make('/v1/meters', METER);
    const body = { entity_id: plan.id, currency: 'usd', meter_id: id, amount: '1' };
    await withSession(url, async (session) => {
      // The price has seen its meter and cannot be written until this transaction ends.
      await session.query('BEGIN; LOCK TABLE prices IN SHARE MODE');
      const priced = api.call('POST', '/v1/prices', { body });
      await untilWaiting(database, 1);
      const archived = api.call('DELETE', `/v1/meters/${id}`);
      await Promise.race([archived, untilWaiting(database, 2)]);
      await session.query('COMMIT');
      expect([(await priced).status, (await archived).status]).toEqual([201, 400]);
    });
  });

  test('cannot be made while something holds the checkpoints, and does not wait for long', async ({
    api,
    database: { url },
  }) => {
    await withSession(url, async (session) => {
      // As a backup does for as long as it takes (docs/operations.md 11).
      await session.query('BEGIN; LOCK TABLE aggregator_checkpoints IN EXCLUSIVE MODE');
      const startedAt = performance.now();
      const refused = await api.call('POST', '/v1/meters', { body: METER });
      expect([refused.status, refused.body.code]).toEqual([503, 'service_unavailable']);
      expect(performance.now() - startedAt).toBeLessThan(30_000);
      await session.query('COMMIT');
    });
    await api.make('/v1/meters', METER);
  });
});
