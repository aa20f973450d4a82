import { describe, expect, test } from 'vitest';
import { MinutebookClient } from './minutebook-client.js';
import { MinutebookError } from './minutebook-error.js';

type Seen = { readonly url: string; readonly headers: Headers; readonly body: unknown };

/** A client whose requests are answered by these in turn; an error fails on the way. */
function clientOf(answers: readonly (Response | Error)[]) {
  const seen: Seen[] = [];
  const waits: number[] = [];
  const client = new MinutebookClient({
    baseUrl: 'https://billing.example.com/v1/',
    apiKey: 'sk_x',
    fetch: (url, init) => {
      const { body } = init ?? {};
      const parsed: unknown = typeof body === 'string' ? JSON.parse(body) : null;
      seen.push({ url: String(url), headers: new Headers(init?.headers), body: parsed });
      const answer = answers[seen.length - 1];
      return answer instanceof Response
        ? Promise.resolve(answer)
        : Promise.reject(answer ?? new Error('too many requests'));
    },
    wait: (milliseconds) => {
      waits.push(milliseconds);
      return Promise.resolve();
    },
  });
  return { client, seen, waits };
}

const json = (status: number, body: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });

const NEW = { body: { external_id: 'acme' } };

describe('the client', () => {
  test('sends a write again with the same key, and waits as long as the server asks', async () => {
    const { client, seen, waits } = clientOf([
      new TypeError('fetch failed'),
      json(503, {}, { 'retry-after': '7' }),
      json(409, {}, { 'retry-after': '1' }),
      json(201, { id: 'cust_1' }),
    ]);
    expect(await client.post('/customers', NEW)).toMatchObject({ id: 'cust_1' });
    const keys = new Set(seen.map(({ headers }) => headers.get('idempotency-key')));
    expect([seen.length, keys.size]).toEqual([4, 1]);
    expect([...keys][0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(waits[0]).toBeLessThanOrEqual(250);
    expect(waits.slice(1)).toEqual([7000, expect.closeTo(1000, -1)]);
  });

  test('gives up after the last attempt, and never repeats what may not be done twice', async () => {
    const lost = new TypeError('fetch failed');
    const often = clientOf(Array.from({ length: 9 }, () => lost));
    await expect(often.client.post('/customers', NEW)).rejects.toBe(lost);
    expect(often.seen).toHaveLength(5);
    const once = clientOf([json(503, { code: 'service_unavailable', message: 'later' })]);
    const key = { body: { name: 'Console', type: 'private_key' as const } };
    await expect(once.client.post('/secrets/api/keys', key)).rejects.toThrow('later');
    expect(once.seen).toHaveLength(1);
  });

  test('throws what a refusal says, at once', async () => {
    const details = { name: 'must not be empty' };
    const refusal = { code: 'validation_error', message: 'name must not be empty', details };
    const { client, seen } = clientOf([json(400, refusal, { 'x-request-id': 'req_1' })]);
    const error = await client.post('/customers', NEW).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MinutebookError);
    expect(error).toMatchObject({ ...refusal, status: 400, requestId: 'req_1' });
    expect(seen).toHaveLength(1);
  });

  test('fills paths and queries, and names a parameter that is missing', async () => {
    const { client, seen } = clientOf([json(200, {}), json(200, {})]);
    await client.get('/customers/{id}', { path: { id: 'a/b' } });
    await client.get('/connections', { query: { limit: 2, status: 'archived' } });
    expect(seen.map(({ url }) => url)).toEqual([
      'https://billing.example.com/v1/customers/a%2Fb',
      'https://billing.example.com/v1/connections?limit=2&status=archived',
    ]);
    expect(seen[0]?.headers.get('idempotency-key')).toBeNull();
    await expect(client.get('/customers/{id}', { path: { id: '' } })).rejects.toThrow('path.id');
  });

  test('reads every kind of list page after page', async () => {
    const page = (items: number[], offset: number) =>
      json(200, { items, pagination: { limit: 2, offset, total: 3 } });
    const searched = clientOf([page([1, 2], 0), page([3], 2)]);
    const found: unknown[] = [];
    const search = searched.client.each('POST', '/customers/search', { body: { limit: 2 } });
    for await (const item of search) found.push(item);
    expect(found).toEqual([1, 2, 3]);
    expect(searched.seen.map(({ body }) => body)).toEqual([{ limit: 2 }, { limit: 2, offset: 2 }]);
    const followed = clientOf([
      json(200, { items: [1], next_after: 1, has_more: true }),
      json(200, { items: [2], next_after: 2, has_more: false }),
    ]);
    const events: unknown[] = [];
    for await (const event of followed.client.each('GET', '/webhooks/events')) events.push(event);
    expect(events).toEqual([1, 2]);
    expect(followed.seen[1]?.url).toMatch(/after=1$/);
  });
});
