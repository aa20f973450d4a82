import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../sql/pool.js';
import { expectRefusals, makeKey, makeSubscription, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { IN_FLIGHT_MS } from '../testing/billing-harness.js';
import { storeEvents, type UsageTarget } from '../testing/write-usage-minutes.js';
import { generationOf } from '../testing/meter-generation.js';

const USAGE = '/v1/events/usage/meter';

async function makeTarget(
  api: BillingUnderTest,
  database: Database,
  members: object = {},
): Promise<UsageTarget> {
  const { id } = await api.make('/v1/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: { type: 'COUNT' },
    ...members,
  });
  const generation = await generationOf(database, id);
  return { environment: api.environment, meterId: id, generation };
}

describe('POST /events/usage/meter', () => {
  test('counts per window in the local zone, also over a clock change', async ({
    api,
    database,
    clickhouse,
  }) => {
    const target = await makeTarget(api, database.database);
    await api.make('/v1/customers', { external_id: 'acme', timezone: 'Europe/Berlin' });
    const countsOn = [target];
    await storeEvents({ database, clickhouse }, api.environment, [
      { at: '2026-10-24T21:59:59.999Z', countsOn },
      { at: '2026-10-24T22:00:00.000Z', countsOn },
      { at: '2026-10-25T22:59:59.999Z', countsOn },
      { at: '2026-10-25T23:00:00.000Z', countsOn },
    ]);
    const usage = await api.make(USAGE, {
      meter_id: target.meterId,
      external_customer_id: 'acme',
      start_time: '2026-10-23T22:00:00Z',
      end_time: '2026-10-26T23:00:00Z',
      window_size: 'DAY',
    });
    expect(usage).toMatchObject({ event_name: 'call', type: 'COUNT', value: '4' });
    expect(usage.results).toEqual([
      {
        window_start: '2026-10-23T22:00:00.000Z',
        window_end: '2026-10-24T22:00:00.000Z',
        group: null,
        value: '1',
      },
      {
        window_start: '2026-10-24T22:00:00.000Z',
        window_end: '2026-10-25T23:00:00.000Z',
        group: null,
        value: '2',
      },
      {
        window_start: '2026-10-25T23:00:00.000Z',
        window_end: '2026-10-26T23:00:00.000Z',
        group: null,
        value: '1',
      },
    ]);
  });

  test('counts everybody who is a customer when none is named', async ({
    api,
    database,
    clickhouse,
  }) => {
    const target = await makeTarget(api, database.database);
    const countsOn = [target];
    const customer = await api.make('/v1/customers', { external_id: 'acme' });
    const at = '2026-10-02T00:00:00.000Z';
    await storeEvents({ database, clickhouse }, api.environment, [
      { at, countsOn },
      { at, countsOn, customerKey: `i:${customer.id}` },
      { at, countsOn, customerKey: 'e:late' },
    ]);
    const query = { meter_id: target.meterId, start_time: '2026-10-01T00:00:00Z' };
    const end = { end_time: '2026-11-01T00:00:00Z' };
    expect((await api.make(USAGE, { ...query, ...end })).value).toBe('2');
    await api.make('/v1/customers', { external_id: 'late' });
    expect((await api.make(USAGE, { ...query, ...end })).value).toBe('3');
  });

  test('adds filters to those of the meter', async ({ api, database, clickhouse }) => {
    const filters = [{ key: 'region', values: ['eu', 'us'] }];
    const target = await makeTarget(api, database.database, { filters });
    await api.make('/v1/customers', { external_id: 'acme' });
    const at = '2026-10-02T00:00:10.000Z';
    await storeEvents({ database, clickhouse }, api.environment, [
      { at, countsOn: [target], properties: { region: 'eu', class: 'a' } },
      { at, countsOn: [target], properties: { region: 'us', class: 'b' } },
      { at, properties: { region: 'ap', class: 'a' } },
    ]);
    const query = {
      meter_id: target.meterId,
      external_customer_id: 'acme',
      start_time: '2026-10-01T00:00:00Z',
      end_time: '2026-11-01T00:00:00Z',
    };
    expect((await api.make(USAGE, query)).value).toBe('2');
    const narrowed = { ...query, filters: { class: ['a', 'c'] } };
    expect((await api.make(USAGE, narrowed)).value).toBe('1');
  });

  test('counts all history on a meter that never resets', async ({ api, database, clickhouse }) => {
    const target = await makeTarget(api, database.database, { reset_usage: 'NEVER' });
    await api.make('/v1/customers', { external_id: 'acme' });
    await storeEvents(
      { database, clickhouse },
      api.environment,
      ['1999-01-01', '2026-10-01', '2026-10-02'].map((day) => ({
        at: `${day}T12:00:00.000Z`,
        countsOn: [target],
      })),
    );
    const usage = await api.make(USAGE, {
      meter_id: target.meterId,
      external_customer_id: 'acme',
      start_time: '2026-10-01T00:00:00Z',
      end_time: '2026-10-03T00:00:00Z',
      window_size: 'DAY',
    });
    expect(usage.value).toBe('3');
    expect(usage.results.map((row: { value: string }) => row.value)).toEqual(['2', '3']);
  });

  test('keeps the counts of another tenant apart', async ({ api, database, clickhouse }) => {
    const { meterId } = await makeSubscription(api);
    const other = await makeKey(database.database, {});
    await storeEvents({ database, clickhouse }, other.environment, [
      { at: '2026-10-02T00:00:10.000Z', countsOn: [{ ...other, meterId, generation: 1 }] },
    ]);
    const query = { meter_id: meterId, start_time: '2026-10-01T00:00:00Z' };
    expect((await api.make(USAGE, query)).value).toBe('0');
    const headers = { 'x-api-key': other.apiKey };
    expect((await api.call('POST', USAGE, { body: query, headers })).status).toBe(404);
  });

  test('knows no customer of another tenant', async ({ api, database }) => {
    const { id } = await api.make('/v1/customers', { external_id: 'acme' });
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    const statusOf = async (path: string, body: object): Promise<number> =>
      (await api.call('POST', path, { body, headers })).status;
    const rule = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
    const { body: meter } = await api.call('POST', '/v1/meters', { body: rule, headers });
    const queries: [string, object][] = [
      [USAGE, { meter_id: meter.id }],
      ['/v1/events/usage', { event_name: 'call', aggregation_type: 'COUNT' }],
    ];
    for (const [path, query] of queries) {
      expect(await statusOf(path, query)).toBe(200);
      expect(await statusOf(path, { ...query, external_customer_id: 'acme' })).toBe(404);
      expect(await statusOf(path, { ...query, customer_id: id })).toBe(404);
    }
  });

  test('tells up to when events are counted', async ({ api, database }) => {
    const target = await makeTarget(api, database.database);
    const query = { meter_id: target.meterId };
    expect((await api.make(USAGE, query)).data_until).toBeNull();
    const run = sql.type(z.unknown());
    const { slonik } = database.database;
    const { log_id: log } = await slonik.one(
      sql.type(
        z.object({ log_id: z.string(), partition_count: z.number() }),
      )`SELECT * FROM open_event_log(2)`,
    );
    const idle = Date.parse((await api.make(USAGE, query)).data_until);
    expect(Date.now() - IN_FLIGHT_MS - idle).toBeLessThan(5_000);
    await slonik.query(run`
      INSERT INTO event_log_batches (partition, end_offset, record_count, appended_at, lengths, payload)
      VALUES (1, 10, 10, '2026-11-01T00:00:00Z', '', ''), (1, 12, 2, '2026-11-02T00:00:00Z', '', '')`);
    const pending = Date.parse((await api.make(USAGE, query)).data_until);
    expect(pending).toBe(Date.UTC(2026, 10, 1) - IN_FLIGHT_MS);
    await slonik.query(run`
      INSERT INTO aggregator_checkpoints (log, partition, next_offset, catalog_version, min_version)
      VALUES (${log}, 1, 10, 1, 1)`);
    const later = Date.parse((await api.make(USAGE, query)).data_until);
    expect(later).toBe(Date.UTC(2026, 10, 2) - IN_FLIGHT_MS);
  });

  test('refuses what breaks a rule, and answers 404 for what it does not know', async ({
    api,
    database,
  }) => {
    const { meterId } = await makeTarget(api, database.database);
    const body = { meter_id: meterId };
    await expectRefusals(api, USAGE, [
      ['no meter', {}, 'meter_id'],
      [
        'a range turned round',
        { ...body, start_time: '2026-10-02T00:00:00Z', end_time: '2026-10-01T00:00:00Z' },
        'end_time',
      ],
      ['an unknown window', { ...body, window_size: 'YEAR' }, 'window_size'],
      ['an unknown zone', { ...body, timezone: 'Mars/Base' }, 'timezone'],
      ['an offset as zone', { ...body, timezone: '+02:00' }, 'timezone'],
      ['a filter without texts', { ...body, filters: { a: [] } }, 'filters'],
      ['a filter that is no list', { ...body, filters: { a: 'x' } }, 'filters.a'],
      [
        'too many windows',
        { ...body, window_size: 'MINUTE', start_time: '2000-01-01T00:00:00Z' },
        'window_size',
      ],
    ]);
    const unknown = [
      { meter_id: 'meter_x' },
      { ...body, customer_id: 'cust_x' },
      { ...body, external_customer_id: 'x' },
    ];
    for (const query of unknown) {
      expect((await api.call('POST', USAGE, { body: query })).status).toBe(404);
    }
  });
});
