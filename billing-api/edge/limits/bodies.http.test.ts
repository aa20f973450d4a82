import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, vi } from 'vitest';
import { createId } from '../../../runtime/ids.js';
import { API_KEY, withBillingApi, type BillingUnderTest } from '../../testing/billing-harness.js';
import { makeKey, test } from '../../testing/billing-test.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const WAIT = { timeout: 10_000, interval: 20 };

/** A connection that is never closed from this side. */
async function open(api: BillingUnderTest): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect({ port: api.port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return { socket, received: () => text };
}

function head(lines: readonly string[], key = API_KEY): string {
  const first = ['POST /v1/plans HTTP/1.1', 'host: t', `x-api-key: ${key}`];
  return [...first, 'content-type: application/json', ...lines, '', ''].join('\r\n');
}

async function valueOf(api: BillingUnderTest, name: string): Promise<number> {
  const metric = await api.metrics.registry.getSingleMetric(name)?.get();
  return metric?.values[0]?.value ?? NaN;
}

const bytesHeld = (api: BillingUnderTest) => valueOf(api, 'minutebook_body_bytes');

/** A plan of this size: blanks count towards the body only. */
function planOf(bytes: number): string {
  const text = '{"name":"Pro"}';
  return text + ' '.repeat(bytes - text.length);
}

describe('a body that stalls', () => {
  test.for([
    ['plain', '{', []],
    ['packed', gzipSync(planOf(MIB)).subarray(0, 900), ['content-encoding: gzip']],
  ] as const)(
    '%s is refused after 5 s, and client and memory are gone',
    async ([, start, more], { api }) => {
      const clients = await Promise.all(Array.from({ length: 20 }, () => open(api)));
      for (const { socket } of clients) {
        socket.write(head([...more, 'content-length: 1000']));
        socket.write(start);
      }
      await vi.waitFor(async () => expect(await bytesHeld(api)).toBeGreaterThan(20 * KIB), WAIT);
      await vi.waitFor(
        async () => expect(await valueOf(api, 'minutebook_http_connections')).toBe(0),
        WAIT,
      );
      expect(await bytesHeld(api)).toBe(0);
      for (const { socket, received } of clients) {
        expect(received()).toContain('HTTP/1.1 408 ');
        expect(received()).toContain('"code":"validation_error","http_status_code":408');
        socket.destroy();
      }
    },
  );
});

describe('bodies in flight', () => {
  test('of all environments of a tenant together leave room for those of another', async ({
    database,
    clickhouse,
  }) => {
    const engines = { database: database.database, clickhouse: clickhouse.client };
    const bodyLimits = { bodyBytesMax: MIB, smallBytesMax: MIB };
    await withBillingApi({ ...engines, bodyLimits }, async (api) => {
      const { apiKey } = await makeKey(database.database, {});
      const other = { 'x-api-key': apiKey };
      const environment = { ...api.environment, environmentId: createId('env') };
      const sibling = await makeKey(database.database, { environment });
      const waiting = await open(api);
      waiting.socket.write(head([`content-length: ${MIB}`]) + ' '.repeat(MIB - 1));
      await vi.waitFor(async () => expect(await bytesHeld(api)).toBeGreaterThan(MIB - 1), WAIT);
      const raw = planOf(MIB);
      const refused = await api.call('POST', '/v1/plans', { raw });
      expect([refused.status, refused.body.code]).toEqual([503, 'service_unavailable']);
      expect(refused.headers.get('retry-after')).toBe('1');
      const ofSibling = { raw, headers: { 'x-api-key': sibling.apiKey } };
      expect((await api.call('POST', '/v1/plans', ofSibling)).status).toBe(503);
      expect((await api.call('POST', '/v1/plans', { body: { name: 'Pro' } })).status).toBe(201);
      expect((await api.call('POST', '/v1/plans', { raw, headers: other })).status).toBe(201);
      waiting.socket.destroy();
      await vi.waitFor(async () => expect(await bytesHeld(api)).toBe(0), WAIT);
      expect((await api.call('POST', '/v1/plans', { raw })).status).toBe(201);
      expect(await bytesHeld(api)).toBe(0);
    });
  });

  test('give their memory back after every kind of answer', async ({ api }) => {
    const gzip = { 'content-encoding': 'gzip' };
    const requests = [
      { raw: planOf(2 * MIB) },
      { raw: planOf(2 * MIB + 1) },
      { raw: gzipSync(planOf(2 * MIB + 1)), headers: gzip },
      { raw: 'no gzip', headers: gzip },
      { raw: '{' },
      { raw: '7' },
      { raw: '{"name":1}' },
      { raw: planOf(100), headers: { 'idempotency-key': 'k' } },
    ];
    const statuses: number[] = [];
    for (const request of requests) {
      statuses.push((await api.call('POST', '/v1/plans', request)).status);
    }
    expect(statuses).toEqual([201, 413, 413, 400, 400, 400, 400, 201]);
    expect(await bytesHeld(api)).toBe(0);
  });

  test('of clients that leave give their memory back', async ({ api }) => {
    const { socket } = await open(api);
    socket.write(head(['content-length: 1000']) + '{');
    await vi.waitFor(async () => expect(await bytesHeld(api)).toBeGreaterThan(0), WAIT);
    socket.destroy();
    await vi.waitFor(async () => expect(await bytesHeld(api)).toBe(0), WAIT);
  });
});

describe('the values of a body', () => {
  /** A list of so many elements in an object: elements, the list and its name. */
  const bodyOf = (values: number, element = '0') =>
    `{"colours":[${`${element},`.repeat(values - 2)}${element}]}`;

  test('are refused above 60,000 before they are parsed, with limit and remedy', async ({
    api,
  }) => {
    const atLimit = await api.call('POST', '/v1/plans', { raw: bodyOf(60_000) });
    expect(atLimit.body.message).toBe('colours is not a member of this request: leave it out');
    const beyond = await api.call('POST', '/v1/plans', { raw: bodyOf(60_001) });
    expect([beyond.status, beyond.body.code]).toEqual([400, 'validation_error']);
    expect(beyond.body.message).toBe(
      'the body has more than 60000 values, members and list elements together: send it in several requests',
    );
  });

  test('are counted before anything is parsed', async ({ api }) => {
    // Parsing would find the mistake at the end, after all elements.
    const raw = `${bodyOf(600_000, '{}')}?`;
    expect(raw.length).toBeLessThan(2 * MIB);
    const { status, body } = await api.call('POST', '/v1/plans', { raw });
    expect([status, body.message]).toEqual([400, expect.stringContaining('60000 values')]);
  });

  test('are refused when they are nested deeper than 32 levels', async ({ api }) => {
    for (const levels of [40, 500_000]) {
      const raw = `{"metadata":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      const { status, body } = await api.call('POST', '/v1/plans', { raw });
      expect([status, body.message]).toEqual([
        400,
        'the body is nested deeper than 32 levels: send it flatter',
      ]);
    }
  });
});
