import { describe, expect } from 'vitest';
import { FailedAuthentication } from '../../runtime/http/failed-authentication.js';
import { ingestTest as test, startTestIngest } from '../testing/ingest-harness.js';

const EVENT = '{"event_name":"call","external_customer_id":"acme","event_id":"e1"}';
const ORIGIN = { origin: 'https://shop.example' };
const PATHS = ['/v1/events', '/v1/events/bulk'];
const PREFLIGHT = {
  ...ORIGIN,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'content-type,x-api-key',
};

describe('a browser', () => {
  test.for(PATHS)('may read every answer to POST %s from any page', async (path, { ingest }) => {
    const body = path.endsWith('bulk') ? `{"events":[${EVENT}]}` : EVENT;
    const answers = [
      await ingest.send(body, { path, headers: ORIGIN }),
      await ingest.send('{', { path, headers: ORIGIN }),
      await ingest.send(body, { path, headers: ORIGIN, apiKey: null }),
      await ingest.send(body, { path, headers: { ...ORIGIN, 'content-type': 'text/plain' } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 400, 401, 400]);
    for (const { headers } of answers) {
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(headers['access-control-expose-headers']).toContain('Retry-After');
    }
  });

  test.for(PATHS)(
    'is told before POST %s what it may send, without a key',
    async (path, { ingest }) => {
      const sending = { path, method: 'OPTIONS', apiKey: null, headers: PREFLIGHT };
      const { status, headers, body } = await ingest.send('', sending);
      expect([status, body]).toEqual([204, '']);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-methods']).toBe('POST');
      expect(headers['access-control-allow-headers']).toBe(
        'content-type, content-encoding, x-api-key, idempotency-key, x-request-id',
      );
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    },
  );

  test('may read nothing else', async ({ ingest }) => {
    for (const [method, path] of [
      ['GET', '/v1/events'],
      ['OPTIONS', '/v1/plans'],
      ['GET', '/livez'],
      ['GET', '/metrics'],
      ['POST', '/v1/plans'],
    ] as const) {
      const { headers } = await ingest.send('', { method, path, headers: PREFLIGHT });
      const granted = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
      expect([method, path, granted]).toEqual([method, path, []]);
    }
  });
});

test('no answer may be stored by a browser or a proxy', async ({ ingest }) => {
  const answers = [
    await ingest.send(EVENT),
    await ingest.send('{'),
    await ingest.send(EVENT, { apiKey: null }),
    await ingest.send('', { method: 'GET' }),
    await ingest.send('', { method: 'OPTIONS', headers: PREFLIGHT }),
    await ingest.send('', { method: 'GET', path: '/livez' }),
    await ingest.send('', { path: '/nowhere' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([202, 400, 401, 405, 204, 200, 404]);
  for (const { headers } of answers) expect(headers['cache-control']).toBe('no-store');
});

describe('failed authentication', () => {
  const WRONG = { apiKey: `sk_${'W'.repeat(40)}` };

  test('is limited per client address, and counts unknown and missing keys', async ({
    database,
  }) => {
    const ingest = await startTestIngest(database, {
      failedAuthentication: new FailedAuthentication({ perSecond: 3 }),
    });
    const answers = [
      await ingest.send(EVENT, WRONG),
      await ingest.send(EVENT, { apiKey: null }),
      await ingest.send(EVENT, { apiKey: 'nonsense' }),
      await ingest.send(EVENT, WRONG),
      await ingest.send(EVENT, { apiKey: null }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429]);
    expect(answers[3]).toMatchObject({
      body: { code: 'too_many_requests', http_status_code: 429 },
    });
    expect(answers[3]?.headers['retry-after']).toBe('1');
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect(await ingest.send(EVENT, WRONG)).toMatchObject({ status: 401 });
    await ingest.close();
  });

  test('leaves a key that was right before its access, and lets no new one in', async ({
    database,
  }) => {
    const ingest = await startTestIngest(database, {
      failedAuthentication: new FailedAuthentication({ perSecond: 1 }),
    });
    const other = { apiKey: await ingest.makeOtherKey() };
    expect(await ingest.send(EVENT)).toMatchObject({ status: 202 });
    expect(await ingest.send(EVENT, WRONG)).toMatchObject({ status: 401 });
    expect(await ingest.send(EVENT)).toMatchObject({ status: 202 });
    expect(await ingest.send(EVENT, other)).toMatchObject({ status: 429 });
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect(await ingest.send(EVENT, other)).toMatchObject({ status: 202 });
    await ingest.close();
  });
});
