import { gzipSync } from 'node:zlib';
import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createId } from '../../runtime/ids.js';
import { API_KEY, withBillingApi } from '../testing/billing-harness.js';
import { documentContract } from '../testing/openapi-contract.js';
import { makeKey, makeSubscription, test } from '../testing/billing-test.js';

type OperationObject = {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { example: unknown }>> }>
  >;
};

const PLAN = { name: 'Pro' };

describe('GET /users/me', () => {
  test('answers the user of the key with roles and tenant', async ({ api }) => {
    const { status, body } = await api.call('GET', '/v1/users/me');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: api.userId,
      tenant_id: api.environment.tenantId,
      environment_id: api.environment.environmentId,
      type: 'user',
      roles: ['super_admin'],
      tenant: { id: api.environment.tenantId, status: 'active', billing_details: { email: null } },
    });
  });
});

describe('credentials', () => {
  test('are needed, and an unknown key is one that is missing', async ({ api }) => {
    for (const key of ['', 'sk_unknown', `sk_${'z'.repeat(40)}`]) {
      const headers = { 'x-api-key': key };
      const { status, body } = await api.call('GET', '/v1/users/me', { headers });
      expect([status, body.code, body.http_status_code]).toEqual([401, 'permission_denied', 401]);
    }
    const bearer = { 'x-api-key': '', authorization: `Bearer ${API_KEY}` };
    const token = await api.call('GET', '/v1/users/me', { headers: bearer });
    expect([token.status, token.body.message]).toEqual([
      401,
      'the token is not valid, or it has expired: sign in again',
    ]);
    const both = { 'x-api-key': `sk_${'z'.repeat(40)}`, authorization: `Bearer ${API_KEY}` };
    expect((await api.call('GET', '/v1/users/me', { headers: both })).status).toBe(401);
    const good = await api.call('GET', '/v1/users/me', { headers: { authorization: 'Bearer x' } });
    expect(good.status).toBe(200);
  });

  test('of a publishable key or a role without the right answer 403', async ({ api, database }) => {
    const { environment } = api;
    const statusesOf = async (options: Parameters<typeof makeKey>[1]): Promise<number[]> => {
      const { apiKey } = await makeKey(database.database, { ...options, environment });
      const headers = { 'x-api-key': apiKey };
      const read = await api.call('GET', '/v1/meters', { headers });
      const search = await api.call('POST', '/v1/plans/search', { body: {}, headers });
      const write = await api.call('POST', '/v1/plans', { body: PLAN, headers });
      return [read.status, search.status, write.status];
    };
    expect(await statusesOf({ type: 'publishable_key' })).toEqual([403, 403, 403]);
    expect(await statusesOf({ roles: ['all_reader'] })).toEqual([200, 200, 403]);
    expect(await statusesOf({ roles: ['all_writer'] })).toEqual([200, 200, 201]);
    expect(await statusesOf({ roles: ['event_ingestor'] })).toEqual([403, 403, 403]);
    expect(await statusesOf({ roles: [] })).toEqual([403, 403, 403]);
  });

  test('of a suspended tenant read and do not write', async ({ api, database }) => {
    await ownerOf(database.database).query(sql.type(z.unknown())`
      UPDATE tenants SET status = 'suspended'`);
    const { status, body } = await api.call('POST', '/v1/plans', { body: PLAN });
    expect([status, body.code]).toEqual([403, 'permission_denied']);
    expect((await api.call('POST', '/v1/plans/search', { body: {} })).status).toBe(200);
  });
});

describe('errors', () => {
  test('answer 404 for unknown paths, also outside /v1', async ({ api }) => {
    for (const [method, path] of [
      ['GET', '/v1/nothing'],
      ['POST', '/v1/plans/x/y'],
      ['GET', '/v1/plans/'],
      ['GET', '/v1/plans//entitlements'],
      ['GET', '/nothing'],
      ['GET', '/v1'],
      ['GET', '/plans'],
    ] as const) {
      const { status, headers, body } = await api.call(method, path, { isUndocumented: true });
      expect([path, status, body.code]).toEqual([path, 404, 'not_found']);
      expect([path, headers.get('allow')]).toEqual([path, null]);
    }
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const answer = await api.call(method, '/v1/plans/x/nothing', { isUndocumented: true });
      const message = 'there is no path /v1/plans/x/nothing';
      expect([method, answer.body]).toEqual([
        method,
        { code: 'not_found', http_status_code: 404, message },
      ]);
    }
  });

  test('answer 405 for another method of a known path, and say which are possible', async ({
    api,
  }) => {
    for (const [method, path, allow] of [
      ['DELETE', '/v1/meters', 'GET, HEAD, POST'],
      ['PATCH', '/v1/plans/x', 'DELETE, GET, HEAD, PUT'],
      ['OPTIONS', '/v1/plans', 'POST'],
      ['GET', '/v1/plans/search', 'POST'],
      ['PUT', '/v1/events', 'GET, HEAD, POST'],
      ['DELETE', '/v1/events/bulk', 'POST'],
      ['POST', '/livez', 'GET, HEAD'],
      ['DELETE', '/openapi.json', 'GET, HEAD'],
    ] as const) {
      const answer = await api.call(method, path, { isUndocumented: true });
      const { status, headers, body } = answer;
      expect([
        method,
        path,
        status,
        body.code,
        body.http_status_code,
        headers.get('allow'),
      ]).toEqual([method, path, 405, 'invalid_operation', 405, allow]);
    }
    const head = await fetch(`${api.url}/v1/meters`, {
      method: 'HEAD',
      headers: { 'x-api-key': API_KEY },
    });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test('answer 401 to callers without a key, whatever they call below /v1', async ({ api }) => {
    const options = { headers: { 'x-api-key': '' }, isUndocumented: true } as const;
    for (const [method, path] of [
      ['GET', '/v1/nothing'],
      ['DELETE', '/v1/meters'],
      ['PUT', '/v1/plans/search'],
    ] as const) {
      const { status, headers } = await api.call(method, path, options);
      expect([path, status, headers.get('allow')]).toEqual([path, 401, null]);
    }
  });

  test('answer 404 to the event routes where ingest does not serve them', async ({ api }) => {
    for (const path of ['/v1/events', '/v1/events/bulk']) {
      const answer = await fetch(`${api.url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
        body: '{}',
      });
      const body = (await answer.json()) as { code: string };
      expect([answer.status, body.code]).toEqual([404, 'not_found']);
    }
  });

  test('answer 400 for a body that is no JSON object of UTF-8', async ({ api }) => {
    const bodies: readonly (readonly [string | Uint8Array, Record<string, string>])[] = [
      ['{"name":', {}],
      ['{"name": "x"} x', {}],
      ['"name"', {}],
      ['[]', {}],
      ['null', {}],
      ['', {}],
      ['name=Pro', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['{"name":"x"}', { 'content-type': 'text/plain' }],
      ['{"name":"x"}', { 'content-type': 'application/json; charset=utf-16' }],
      ['{"name":"x"}', { 'content-encoding': 'gzip' }],
      ['{"name":"x"}', { 'content-encoding': 'zip' }],
      ['{"name":"a\\u0000b"}', {}],
      ['{"name":"a\\ud800b"}', {}],
      ['{"name":"x","metadata":{"a\\u0000":1}}', {}],
      [`{"name":"x","metadata":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`, {}],
    ];
    for (const [raw, headers] of bodies) {
      const { status, body } = await api.call('POST', '/v1/plans', { raw, headers });
      expect([raw, status, body.code]).toEqual([raw, 400, 'validation_error']);
    }
    expect((await api.call('GET', '/v1/meters/%00')).status).toBe(400);
    expect((await api.call('GET', '/v1/meters/%E0%A4')).status).toBe(400);
    expect((await api.call('GET', '/v1/meters?event_name=%00')).status).toBe(400);
  });

  test('answer 413 above 2 MiB, also of a small body that unpacks to more', async ({ api }) => {
    const large = JSON.stringify({ name: 'x', description: 'x'.repeat(2 * 1024 * 1024) });
    const plain = await api.call('POST', '/v1/plans', { raw: large });
    expect([plain.status, plain.body.code]).toEqual([413, 'validation_error']);
    const headers = { 'content-encoding': 'gzip' };
    const packed = await api.call('POST', '/v1/plans', { raw: gzipSync(large), headers });
    expect(packed.status).toBe(413);
  });

  test('take gzip, nulls as absent and empty texts of enumerations as absent', async ({ api }) => {
    const raw = gzipSync(JSON.stringify({ name: 'Packed', description: null, lookup_key: null }));
    const headers = { 'content-encoding': 'gzip' };
    expect((await api.call('POST', '/v1/plans', { raw, headers })).status).toBe(201);
    const found = await api.make('/v1/plans/search', { status: '', expand: null });
    expect(found.items[0].name).toBe('Packed');
  });

  test('say 503 when a database does not answer, and nothing of why', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { planId, id } = await makeSubscription(api);
    await clickhouse.client.command('RENAME TABLE usage_minute_v1 TO gone');
    const preview = await api.call('POST', '/v1/invoices/preview', {
      body: { subscription_id: id },
    });
    expect([preview.status, preview.body.code]).toEqual([503, 'service_unavailable']);
    expect(preview.headers.get('retry-after')).toBe('1');
    expect(preview.body.message).not.toContain('usage_minute');
    await ownerOf(database.database).query(sql.type(z.unknown())`ALTER TABLE plans RENAME TO gone`);
    const broken = await api.call('GET', `/v1/plans/${planId}`);
    expect([broken.status, broken.body]).toEqual([
      500,
      { code: 'internal_error', http_status_code: 500, message: 'internal error' },
    ]);
  });
});

describe('headers', () => {
  test('echo a request id, or make one', async ({ api }) => {
    const headers = { 'x-request-id': 'mine-1' };
    const echoed = await api.call('GET', '/v1/users/me', { headers });
    expect(echoed.headers.get('x-request-id')).toBe('mine-1');
    const long = { 'x-request-id': 'x'.repeat(129) };
    const made = await api.call('GET', '/v1/users/me', { headers: long });
    expect(made.headers.get('x-request-id')).toMatch(/^req_[0-9A-Z]{26}$/);
    const missing = await api.call('GET', '/nothing', { isUndocumented: true });
    expect(missing.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('count requests per tenant and refuse the one too many, of any key and environment', async ({
    database,
    clickhouse,
  }) => {
    const engines = {
      database: database.database,
      clickhouse: clickhouse.client,
      heavyRate: 1,
      defaultRate: 3,
    };
    await withBillingApi(engines, async (api) => {
      const answers = [];
      for (let count = 0; count < 4; count += 1) answers.push(await api.call('GET', '/v1/meters'));
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429]);
      const [first, , , last] = answers;
      expect(first?.headers.get('ratelimit-policy')).toBe('"default";q=3;w=1');
      expect(first?.headers.get('ratelimit')).toBe('"default";r=2;t=1');
      expect(last?.headers.get('ratelimit')).toBe('"default";r=0;t=1');
      expect(last?.headers.get('retry-after')).toBe('1');
      expect(last?.body.code).toBe('too_many_requests');
      const unknown = await api.call('GET', '/v1/nothing', { isUndocumented: true });
      expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([429, '1']);
      const heavy = { body: { meter_id: 'x' } };
      const one = await api.call('POST', '/v1/events/usage/meter', heavy);
      expect([one.status, one.headers.get('ratelimit-policy')]).toEqual([404, '"heavy";q=1;w=1']);
      expect((await api.call('POST', '/v1/events/usage/meter', heavy)).status).toBe(429);
      const grouped = await api.call('GET', '/v1/invoices/inv_1?group_by=source');
      expect(grouped.headers.get('ratelimit-policy')).toBe('"heavy";q=1;w=1');
      const plain = await api.call('GET', '/v1/invoices/inv_1');
      expect(plain.headers.get('ratelimit-policy')).toBe('"default";q=3;w=1');
      const environment = { ...api.environment, environmentId: createId('env') };
      const sibling = await makeKey(database.database, { environment });
      const ofSibling = { headers: { 'x-api-key': sibling.apiKey } };
      expect((await api.call('GET', '/v1/meters', ofSibling)).status).toBe(429);
      const { apiKey } = await makeKey(database.database, {});
      const other = await api.call('GET', '/v1/meters', { headers: { 'x-api-key': apiKey } });
      expect(other.status).toBe(200);
    });
  });

  test('announce no rate where none is set', async ({ database, clickhouse }) => {
    const engines = { database: database.database, clickhouse: clickhouse.client };
    await withBillingApi({ ...engines, heavyRate: 0, defaultRate: 0 }, async (api) => {
      for (let count = 0; count < 3; count += 1) {
        const { status, headers } = await api.call('GET', '/v1/meters');
        expect([status, headers.get('ratelimit'), headers.get('ratelimit-policy')]).toEqual([
          200,
          null,
          null,
        ]);
      }
    });
  });
});

/** A file has no example, and only a provider can sign what the signals of its connection are. */
function isWithoutExample(method: string, path: string, content: object | undefined): boolean {
  const isFile = content !== undefined && Object.hasOwn(content, 'application/pdf');
  const none = ['post /connections/{id}/signals', 'delete /auth/session'];
  return isFile || none.includes(`${method} ${path}`);
}

describe('operational routes', () => {
  test('need no key and name every dependency', async ({ api }) => {
    const headers = { 'x-api-key': '' };
    expect((await api.call('GET', '/livez', { headers })).body).toEqual({ status: 'alive' });
    for (const path of ['/readyz', '/health']) {
      const { status, body } = await api.call('GET', path, { headers });
      expect(status).toBe(200);
      expect(body).toEqual({
        status: 'ready',
        dependencies: { postgres: 'up', clickhouse: 'up' },
      });
    }
    const metrics = await api.call('GET', '/metrics', { headers });
    expect(metrics.body).toContain('minutebook_http_request_seconds_count');
  });

  test('serve a document whose examples keep what it says', async ({ api }) => {
    const { body: document } = await api.call('GET', '/openapi.json');
    const contract = documentContract();
    let examples = 0;
    for (const [path, item] of Object.entries<Record<string, OperationObject>>(document.paths)) {
      for (const [method, operation] of Object.entries(item)) {
        const [status, success] = Object.entries(operation.responses)[0] ?? [];
        const [content] = Object.values(success?.content ?? {});
        if (isWithoutExample(method, path, success?.content)) continue;
        const body = content?.example;
        const answer = { method, path, status: Number(status), body };
        expect([method, path, contract.problemsOf(answer)]).toEqual([method, path, []]);
        examples += 1;
      }
    }
    expect(examples).toBeGreaterThanOrEqual(28);
  });

  test('serve the document and a reference page that asks nobody else', async ({ api }) => {
    const headers = { 'x-api-key': '' };
    const { body: document } = await api.call('GET', '/openapi.json', { headers });
    expect(document.info.version).toBe('1.0');
    expect(document.servers).toHaveLength(2);
    expect(document.servers.every(({ url }: { url: string }) => url.endsWith('/v1'))).toBe(true);
    expect(document.components.securitySchemes.ApiKeyAuth).toMatchObject({ name: 'x-api-key' });
    for (const path of ['/events', '/events/bulk']) expect(document.paths).toHaveProperty(path);
    const page = await fetch(`${api.url}/docs/try`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const sources = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, url]) => url,
    );
    expect(sources).toHaveLength(4);
    for (const source of sources) {
      expect(source).toMatch(/^\/docs\/try\//);
      expect((await fetch(`${api.url}${source}`)).status).toBe(200);
    }
  });
});

test('an unknown query parameter is refused, with the names of those that there are', async ({
  api,
}) => {
  const listed = await api.call('GET', '/v1/taxes/associations?entity=x&limit=5');
  expect([listed.status, listed.body.code, Object.keys(listed.body.details)]).toEqual([
    400,
    'validation_error',
    ['entity'],
  ]);
  expect(listed.body.message).toMatch(/^entity is not a query parameter.*limit/);
  const none = await api.call('POST', '/v1/plans?dry_run=true', { body: { name: 'Pro' } });
  expect([none.status, none.body.message]).toEqual([400, expect.stringContaining('takes none')]);
  expect((await api.make('/v1/plans/search', {})).pagination.total).toBe(0);
});
