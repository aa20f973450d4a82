import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { API_KEY, withBillingApi, type BillingUnderTest } from '../../testing/billing-harness.js';
import { makeKey, test } from '../../testing/billing-test.js';

const JSON_TYPE = { 'content-type': 'application/json' };

/** A request outside the OpenAPI document, so one that no contract is checked for. */
async function statusOf(
  api: BillingUnderTest,
  path: string,
  options: { readonly apiKey?: string; readonly body?: unknown } = {},
): Promise<readonly [number, unknown]> {
  const answer = await fetch(`${api.url}${path}`, {
    method: options.body === undefined ? 'GET' : 'POST',
    headers: { 'x-api-key': options.apiKey ?? API_KEY, ...JSON_TYPE },
    body: options.body === undefined ? null : JSON.stringify(options.body),
  });
  const { code } = (await answer.json()) as { readonly code: unknown };
  return [answer.status, code];
}

describe('a path', () => {
  test('in another case or with a slash at its end is another path', async ({ api }) => {
    const paths = ['/V1/meters', '/v1/Meters', '/v1/meters/', '/v1//meters', '/v1/%6deters'];
    for (const path of [...paths, '/DOCS', '/Openapi.json', '/openapi.json/']) {
      expect([path, ...(await statusOf(api, path))]).toEqual([path, 404, 'not_found']);
    }
    for (const path of [
      '/v1/EVENTS/usage/meter',
      '/v1/events/usage/meter/',
      '/v1/events/usage//meter',
    ]) {
      expect([path, ...(await statusOf(api, path, { body: {} }))]).toEqual([
        path,
        404,
        'not_found',
      ]);
    }
    expect((await statusOf(api, '/v1/meters'))[0]).toBe(200);
  });

  test('in another case does not get around limits and roles', async ({ database, clickhouse }) => {
    const engines = { database: database.database, clickhouse: clickhouse.client };
    await withBillingApi({ ...engines, heavyRate: 1, defaultRate: 3 }, async (api) => {
      const body = { meter_id: 'meter_x' };
      const send = (path: string) => statusOf(api, path, { body });
      const misspelt = ['/v1/EVENTS/usage/meter', '/v1/events/Usage/meter', '/v1/events/usage/x'];
      for (const path of misspelt) expect(await send(path)).toEqual([404, 'not_found']);
      // Paths that do not exist count as well, so that guessing is bounded.
      expect(await send('/v1/events/usage/meter/')).toEqual([429, 'too_many_requests']);
      expect(await send('/v1/events/usage/meter')).toEqual([404, 'not_found']);
      expect(await send('/v1/events/usage/meter')).toEqual([429, 'too_many_requests']);
    });
    await withBillingApi(engines, async (api) => {
      const roles = ['event_ingestor'];
      const { apiKey } = await makeKey(database.database, { roles, environment: api.environment });
      const request = { body: { meter_id: 'meter_x' }, apiKey };
      const spelt = await statusOf(api, '/v1/events/usage/meter', request);
      expect(spelt).toEqual([403, 'permission_denied']);
      const misspelt = await statusOf(api, '/v1/Events/usage/meter', request);
      expect(misspelt).toEqual([404, 'not_found']);
    });
  });
});

describe('a body', () => {
  test('is taken plain or packed with gzip, and refused otherwise', async ({ api }) => {
    const text = '{"name":"Pro"}';
    const cases: readonly (readonly [string, string | Uint8Array])[] = [
      ['br', brotliCompressSync(text)],
      ['br', text],
      ['deflate', text],
      ['gzip, gzip', gzipSync(gzipSync(text))],
    ];
    for (const [encoding, raw] of cases) {
      const headers = { 'content-encoding': encoding };
      const { status, body } = await api.call('POST', '/v1/plans', { raw, headers });
      expect([encoding, status, body.code]).toEqual([encoding, 400, 'validation_error']);
      expect(body.message).toContain('Content-Encoding');
    }
    const whole = gzipSync(text);
    for (const raw of [text, whole.subarray(0, 12), whole.subarray(0, -4)]) {
      const headers = { 'content-encoding': 'gzip' };
      const { status, body } = await api.call('POST', '/v1/plans', { raw, headers });
      expect([status, body.code]).toEqual([400, 'validation_error']);
    }
    for (const [encoding, raw] of [
      ['identity', text],
      ['GZIP', whole],
    ] as const) {
      const headers = { 'content-encoding': encoding };
      expect((await api.call('POST', '/v1/plans', { raw, headers })).status).toBe(201);
    }
  });

  test('is UTF-8 or refused', async ({ api }) => {
    const latin1 = Buffer.from('{"name":"Caf\u00e9"}', 'latin1');
    const packed = { 'content-encoding': 'gzip' };
    for (const [raw, headers] of [
      [latin1, {}],
      [gzipSync(latin1), packed],
    ] as const) {
      const { status, body } = await api.call('POST', '/v1/plans', { raw, headers });
      expect([status, body.code]).toEqual([400, 'validation_error']);
      expect(body.message).toContain('UTF-8');
    }
    const raw = '{"name":"Caf\u00e9"}';
    for (const charset of ['latin1', 'utf-7', 'utf-16le', 'utf-32', '"utf-16"']) {
      const headers = { 'content-type': `application/json; charset=${charset}` };
      const { status, body } = await api.call('POST', '/v1/plans', { raw, headers });
      expect([charset, status, body.code]).toEqual([charset, 400, 'validation_error']);
    }
    for (const charset of ['utf-8', 'UTF-8', '"utf-8"']) {
      const headers = { 'content-type': `application/json; charset=${charset}` };
      expect((await api.call('POST', '/v1/plans', { raw, headers })).body.name).toBe('Caf\u00e9');
    }
  });

  test('of very many members is refused at once, in few words', async ({ api }) => {
    const members = (count: number, prefix = 'a') =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 1]));
    const bodies = [
      members(150_000),
      { name: 'x', metadata: members(1_001) },
      { items: Array.from({ length: 100 }, () => members(401)) },
    ];
    for (const body of bodies) {
      const answer = await api.call('POST', '/v1/prices/bulk', { body });
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
      expect(answer.body.message).toMatch(
        /has more than (1000 members|60000 values)|have more than 40000/,
      );
    }
    const some = await api.call('POST', '/v1/plans', { body: members(900, 'b'.repeat(300)) });
    expect(some.body.details).toEqual({
      ['b'.repeat(100)]: 'is not a member of this request: leave it out',
      name: 'must be given: send a text of 1 to 255 characters',
    });
    const items = Array.from({ length: 100 }, () => ({}));
    const wrong = await api.call('POST', '/v1/prices/bulk', { body: { items } });
    expect(Object.keys(wrong.body.details)).toHaveLength(20);
  });

  test('names its unknown members exactly, whatever they are called', async ({ api }) => {
    for (const name of ['__proto__', 'a,b', 'a.b', '$1', 'constructor', 'tariff ']) {
      const body = Object.fromEntries([
        ['name', 'Pro'],
        [name, 1],
      ]);
      const { status, body: error } = await api.call('POST', '/v1/plans', { body });
      expect([name, status, error.message]).toEqual([
        name,
        400,
        `${name} is not a member of this request: leave it out`,
      ]);
      expect(Object.entries(error.details)).toEqual([
        [name, 'is not a member of this request: leave it out'],
      ]);
    }
    const body = { filters: [{ field: 'name', value: { string: 'x', 'a,b': 1 } }] };
    const nested = await api.call('POST', '/v1/plans/search', { body });
    expect(Object.keys(nested.body.details)).toEqual(['filters.0.value.a,b']);
  });
});

describe('a number that JavaScript cannot hold', () => {
  test('is refused wherever it stands, also under an Idempotency-Key', async ({ api }) => {
    const bodies = [
      '{"name":"Pro","metadata":{"a":1e400}}',
      '{"name":-1e400}',
      '{"name":"Pro","display_order":1e309}',
    ];
    for (const raw of bodies) {
      for (const headers of [{}, { 'idempotency-key': 'big' }]) {
        const { status, body } = await api.call('POST', '/v1/plans', { raw, headers });
        expect([raw, status, body.code]).toEqual([raw, 400, 'validation_error']);
      }
    }
    expect((await api.make('/v1/plans/search', {})).pagination.total).toBe(0);
  });
});

describe('metadata and filter values', () => {
  test('keep a key that is called __proto__', async ({ api }) => {
    const raw = '{"name":"Pro","metadata":{"__proto__":"kept","a":1}}';
    const plan = await api.call('POST', '/v1/plans', { raw });
    const read = await api.call('GET', `/v1/plans/${plan.body.id}`);
    for (const { body } of [plan, read]) {
      expect(Object.entries(body.metadata)).toContainEqual(['__proto__', 'kept']);
    }
    const { id: meterId } = await api.make('/v1/meters', {
      name: 'Calls',
      event_name: 'call',
      aggregation: { type: 'COUNT' },
    });
    const price = await api.call('POST', '/v1/prices', {
      raw: `{"entity_id":"${plan.body.id}","currency":"usd","meter_id":"${meterId}","amount":"1",
        "filter_values":{"__proto__":["nope"]}}`,
    });
    const stored = await api.call('GET', `/v1/prices/${price.body.id}`);
    for (const { body } of [price, stored]) {
      expect(Object.entries(body.filter_values)).toEqual([['__proto__', ['nope']]]);
    }
  });
});

describe('a wrong value', () => {
  test('is refused in words for callers, without the value', async ({ api }) => {
    const messageOf = async (path: string, body?: unknown): Promise<string> => {
      const method = body === undefined ? 'GET' : 'POST';
      const answer = await api.call(method, path, body === undefined ? {} : { body });
      expect([path, answer.status]).toEqual([path, 400]);
      return answer.body.message;
    };
    const long = 'x'.repeat(400);
    expect(await messageOf(`/v1/meters?order=${long}`)).toBe('order: must be one of asc, desc');
    expect(await messageOf('/v1/meters?limit=x')).toBe('limit: must be an integer from 1 to 1000');
    expect(await messageOf('/v1/meters?limit=0')).toBe('limit: must be an integer from 1 to 1000');
    const status = await messageOf(`/v1/plans/search`, { status: long });
    expect(status).toBe('status: must be one of published, deleted, archived');
    const metadata = await messageOf('/v1/plans', { name: 'x', metadata: { a: [long] } });
    expect(metadata).toBe('metadata.a: must be a text or a number or true or false');
    const price = { billing_period: long, currency: 'usd' };
    expect(await messageOf('/v1/prices', price)).toMatch(
      /^billing_period: must be one of .*ONETIME/,
    );
  });

  test('is absent when it is the empty text of an enumeration in a query', async ({ api }) => {
    const plain = await api.call('GET', '/v1/meters');
    const empty = await api.call('GET', '/v1/meters?status=&order=');
    expect([empty.status, empty.body]).toEqual([200, plain.body]);
    expect((await api.call('GET', '/v1/meters?limit=')).status).toBe(400);
  });
});
