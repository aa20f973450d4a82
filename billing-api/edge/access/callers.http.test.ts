import { describe, expect } from 'vitest';
import { API_KEY, withBillingApi, type BillingUnderTest } from '../../testing/billing-harness.js';
import { makeKey, test } from '../../testing/billing-test.js';

const WRONG = { 'x-api-key': `sk_${'W'.repeat(40)}` };

/** A request outside the OpenAPI document. */
function send(api: BillingUnderTest, [method, path]: readonly [string, string], headers = {}) {
  return fetch(`${api.url}${path}`, { method, headers: { 'x-api-key': API_KEY, ...headers } });
}

describe('failed authentication', () => {
  test('is limited per client address; keys that were right before are served', async ({
    database,
    clickhouse,
  }) => {
    const engines = { database: database.database, clickhouse: clickhouse.client };
    await withBillingApi({ ...engines, failedAuthRate: 2 }, async (api) => {
      const fresh = { 'x-api-key': (await makeKey(database.database, {})).apiKey };
      expect((await api.call('GET', '/v1/plans/x')).status).toBe(404);
      const statuses: number[] = [];
      for (const headers of [WRONG, { 'x-api-key': '' }, WRONG, { 'x-api-key': '' }, fresh]) {
        statuses.push((await api.call('GET', '/v1/plans/x', { headers })).status);
      }
      expect(statuses).toEqual([401, 401, 429, 429, 429]);
      const limited = await api.call('GET', '/v1/plans/x', { headers: WRONG });
      expect([limited.body.code, limited.headers.get('retry-after')]).toEqual([
        'too_many_requests',
        '1',
      ]);
      expect((await api.call('GET', '/v1/plans/x')).status).toBe(404);
      await new Promise((resolve) => setTimeout(resolve, 1_050));
      expect((await api.call('GET', '/v1/plans/x', { headers: fresh })).status).toBe(404);
    });
  });
});

test('no answer of the API may be stored by a browser or a proxy', async ({ api }) => {
  const statuses: number[] = [];
  for (const [method, path, headers] of [
    ['GET', '/v1/users/me', {}],
    ['GET', '/v1/plans/x', {}],
    ['GET', '/v1/nowhere', {}],
    ['PATCH', '/v1/plans/x', {}],
    ['OPTIONS', '/v1/plans', {}],
    ['HEAD', '/v1/users/me', {}],
    ['GET', '/v1/users/me', WRONG],
    ['GET', '/livez', {}],
    ['GET', '/openapi.json', {}],
  ] as const) {
    const answer = await send(api, [method, path], headers);
    expect([method, path, answer.headers.get('cache-control')]).toEqual([method, path, 'no-store']);
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([200, 404, 404, 405, 405, 200, 401, 200, 200]);
  const asset = await send(api, ['GET', '/docs/try/swagger-ui.css']);
  expect(asset.headers.get('cache-control')).toBe('public, max-age=3600');
});

test('no page of another origin may read an answer of the REST API', async ({ api }) => {
  const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
  for (const [method, path] of [
    ['OPTIONS', '/v1/plans'],
    ['OPTIONS', '/v1/plans/search'],
    ['GET', '/v1/users/me'],
    ['GET', '/livez'],
    ['GET', '/openapi.json'],
  ] as const) {
    const { headers } = await send(api, [method, path], preflight);
    const granted = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
    expect([method, path, granted]).toEqual([method, path, []]);
  }
});

test('another method of a path answers 405 with Allow', async ({ api }) => {
  for (const [method, path, allow] of [
    ['PATCH', '/v1/plans/x', 'DELETE, GET, HEAD, PUT'],
    ['OPTIONS', '/v1/plans/x', 'DELETE, GET, HEAD, PUT'],
    ['HEAD', '/v1/plans/search', 'POST'],
    ['GET', '/v1/plans/search', 'POST'],
    ['DELETE', '/v1/users/me', 'GET, HEAD, PUT'],
    ['POST', '/livez', 'GET, HEAD'],
    ['OPTIONS', '/openapi.json', 'GET, HEAD'],
  ] as const) {
    const answer = await send(api, [method, path]);
    expect([method, path, answer.status, answer.headers.get('allow')]).toEqual([
      method,
      path,
      405,
      allow,
    ]);
  }
});
