import { describe, expect } from 'vitest';
import { sql } from 'slonik';
import { z } from 'zod';
import { METERS_OF_EVENT_NAME_MAX } from '../../../contract/meter.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { expectRefusals, makeKey, test } from '../../testing/billing-test.js';
import { readEffectiveMeters } from './effective-meters.js';

const METER = { name: 'Calls', event_name: ' call ', aggregation: { type: 'COUNT' } };

const SEATS = { type: 'MAX', field: 'seats' };

describe('POST /meters', () => {
  test('answers 201 with every member and puts the definition in force', async ({
    api,
    database,
  }) => {
    const body = { ...METER, filters: [{ key: 'region', values: ['eu', 'us'] }] };
    const { status, body: meter, headers } = await api.call('POST', '/v1/meters', { body });
    expect(status).toBe(201);
    expect(headers.get('etag')).toBe('"1"');
    expect(meter).toMatchObject({
      name: 'Calls',
      event_name: 'call',
      filters: [{ key: 'region', values: ['eu', 'us'] }],
      reset_usage: 'BILLING_PERIOD',
      version: 1,
      status: 'published',
      backfill: { status: 'none', events_scanned: 0 },
    });
    const rows = await ownerOf(database.database).any(
      sql.type(
        z.object({ meter_id: z.string(), filters: z.unknown() }),
      )`SELECT meter_id, filters FROM meter_versions WHERE retired_in IS NULL`,
    );
    expect(rows).toEqual([{ meter_id: meter.id, filters: meter.filters }]);
  });

  test('answers every kind of aggregation as it was sent, and stores it for the aggregator', async ({
    api,
    database,
  }) => {
    const aggregations = [
      { type: 'SUM', expression: 'bytes / 1024', multiplier: '2.50' },
      { type: 'SUM_WITH_MULTIPLIER', field: 'bytes', multiplier: '0.001' },
      { type: 'AVG', field: 'ms' },
      { ...SEATS, bucket_size: 'DAY', group_by: 'team', bucket_pricing: 'bucket' },
      { type: 'COUNT', bucket_size: 'MINUTE', bucket_pricing: 'period' },
      { type: 'COUNT', bucket_size: 'MINUTE', bucket_pricing: 'bucket' },
      { type: 'SUM', field: 'n', bucket_size: 'HOUR', bucket_pricing: 'period' },
      { type: 'LATEST', field: 'level' },
      { type: 'MIN', expression: 'level / 2', multiplier: '3' },
      { type: 'COUNT_UNIQUE', field: 'user' },
      { type: 'WEIGHTED_SUM', field: 'change' },
      { type: 'COUNT', field: 'kept', expression: 'also kept' },
    ];
    const absent = { field: null, expression: null, multiplier: null };
    for (const aggregation of aggregations) {
      const meter = await api.make('/v1/meters', { ...METER, aggregation });
      const multiplier = aggregation.multiplier?.replace(/0$/, '') ?? null;
      const answered = {
        ...absent,
        group_by: null,
        bucket_size: null,
        bucket_pricing: null,
        ...aggregation,
        multiplier,
      };
      expect(meter.aggregation).toEqual(answered);
      expect((await api.call('GET', `/v1/meters/${meter.id}`)).body).toEqual(meter);
      const readings = await readEffectiveMeters(database.database, api.environment, [meter.id]);
      const isCount = aggregation.type === 'COUNT';
      expect(readings.get(meter.id)).toMatchObject({
        aggregation: {
          type: aggregation.type,
          field: isCount ? null : answered.field,
          expression: isCount ? null : answered.expression,
          multiplier,
          groupBy: answered.group_by,
        },
        bucketSize: answered.bucket_size,
        resetUsage: 'BILLING_PERIOD',
      });
    }
  });

  test('refuses more meters of one event name than one insert can write rows for', async ({
    api,
    database,
  }) => {
    const first = await api.make('/v1/meters', METER);
    const owner = ownerOf(database.database);
    await owner.query(sql.type(z.unknown())`
      INSERT INTO meters
      SELECT (jsonb_populate_record(m, jsonb_build_object('id', 'meter_' || n))).*
      FROM meters AS m, generate_series(2, ${METERS_OF_EVENT_NAME_MAX - 1}) AS n`);
    const last = await api.make('/v1/meters', METER);
    await expectRefusals(api, '/v1/meters', [['one more', METER, 'event_name']]);
    await api.make('/v1/meters', { ...METER, event_name: 'another' });
    for (const { id } of [first, last]) await api.call('DELETE', `/v1/meters/${id}`);
    await api.make('/v1/meters', METER);
  });

  test('refuses expressions that together would cost too much for every event', async ({ api }) => {
    const quotients = `max(${Array.from({ length: 20 }, () => 'a*b/(c*d)').join(',')})`;
    const aggregation = { type: 'SUM', expression: quotients };
    const costly = { ...METER, aggregation };
    const body = { ...METER, aggregation: { type: 'SUM', expression: 'a / 3' } };
    let made: { readonly id: string } | null = null;
    for (let count = 0; count < 14; count += 1) made = await api.make('/v1/meters', costly);
    await expectRefusals(api, '/v1/meters', [['one more', costly, 'aggregation.expression']]);
    await api.make('/v1/meters', METER);
    await api.make('/v1/meters', body);
    await api.make('/v1/meters', { ...costly, event_name: 'another' });
    await api.call('DELETE', `/v1/meters/${made?.id ?? ''}`);
    await api.make('/v1/meters', costly);
  });

  test('refuses what breaks a rule, naming the member', async ({ api }) => {
    await expectRefusals(api, '/v1/meters', [
      ['no name', { ...METER, name: undefined }, 'name'],
      ['a blank name', { ...METER, name: '  ' }, 'name'],
      ['a blank event name', { ...METER, event_name: ' ' }, 'event_name'],
      ['no aggregation', { ...METER, aggregation: undefined }, 'aggregation'],
      ['a sum of nothing', { ...METER, aggregation: { type: 'SUM' } }, 'aggregation.field'],
      [
        'an empty field',
        { ...METER, aggregation: { type: 'SUM', field: '' } },
        'aggregation.field',
      ],
      [
        'an expression that does not compile',
        { ...METER, aggregation: { type: 'SUM', expression: 'a +' } },
        'aggregation.expression',
      ],
      [
        'an expression with 21 divisions',
        { ...METER, aggregation: { type: 'SUM', expression: `a${' / b'.repeat(21)}` } },
        'aggregation.expression',
      ],
      ['an unknown type', { ...METER, aggregation: { type: 'MEDIAN' } }, 'aggregation.type'],
      ['a type in a list', { ...METER, aggregation: { type: ['COUNT'] } }, 'aggregation.type'],
      [
        'a multiplier',
        { ...METER, aggregation: { type: 'COUNT', multiplier: '2' } },
        'aggregation.multiplier',
      ],
      [
        'groups without buckets',
        { ...METER, aggregation: { type: 'COUNT', group_by: 'region' } },
        'aggregation.group_by',
      ],
      [
        'a filter without values',
        { ...METER, filters: [{ key: 'a', values: [] }] },
        'filters.0.values',
      ],
      [
        'a filter with an empty key',
        { ...METER, filters: [{ key: '', values: ['x'] }] },
        'filters.0.key',
      ],
      [
        'a filter key twice',
        {
          ...METER,
          filters: [
            { key: 'a', values: ['x'] },
            { key: 'a', values: ['y'] },
          ],
        },
        'filters.1.key',
      ],
      ['an unknown member', { ...METER, colour: 'red' }, 'colour'],
      [
        'an unknown member inside',
        { ...METER, aggregation: { type: 'COUNT', colour: 1 } },
        'aggregation.colour',
      ],
      ['metadata in metadata', { ...METER, metadata: { a: { b: 1 } } }, 'metadata.a'],
      [
        '51 metadata keys',
        {
          ...METER,
          metadata: Object.fromEntries([...Array(51).keys()].map((key) => [`k${key}`, 1])),
        },
        'metadata',
      ],
    ]);
  });
});

describe('GET /meters', () => {
  test('pages newest first and counts all matches', async ({ api }) => {
    for (const name of ['one', 'two', 'three']) await api.make('/v1/meters', { ...METER, name });
    const { body } = await api.call('GET', '/v1/meters?limit=2&offset=1&sort=name&order=asc');
    expect(body.items.map((meter: { name: string }) => meter.name)).toEqual(['three', 'two']);
    expect(body.pagination).toEqual({ limit: 2, offset: 1, total: 3 });
    const other = await api.call('GET', '/v1/meters?event_name=other');
    expect(other.body.pagination).toEqual({ limit: 50, offset: 0, total: 0 });
  });

  test('refuses a query out of range', async ({ api }) => {
    const queries = [
      'limit=0',
      'limit=1001',
      'limit=x',
      'offset=-1',
      'status=gone',
      'sort=colour',
      'start_time=2026-02-30T00:00:00Z',
    ];
    for (const query of queries) {
      expect((await api.call('GET', `/v1/meters?${query}`)).status, query).toBe(400);
    }
  });
});

describe('GET /meters/{id}', () => {
  test('answers 404 for an unknown id and for the meter of another tenant', async ({
    api,
    database,
  }) => {
    const meter = await api.make('/v1/meters', METER);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    const foreign = await api.call('GET', `/v1/meters/${meter.id}`, { headers });
    expect(foreign.status).toBe(404);
    expect((await api.call('GET', '/v1/meters/meter_x')).status).toBe(404);
    expect((await api.call('GET', '/v1/meters', { headers })).body.items).toEqual([]);
  });

  test('answers 409 when If-Match names another version', async ({ api }) => {
    const { id } = await api.make('/v1/meters', METER);
    const match = { headers: { 'if-match': '"1"' } };
    expect((await api.call('GET', `/v1/meters/${id}`, match)).status).toBe(200);
    const other = await api.call('GET', `/v1/meters/${id}`, { headers: { 'if-match': '"2"' } });
    expect(other.status).toBe(409);
    expect(other.body.code).toBe('version_conflict');
  });
});
