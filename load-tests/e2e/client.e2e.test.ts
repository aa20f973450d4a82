import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { MinutebookClient } from '../../client/minutebook-client.js';
import { MinutebookError } from '../../client/minutebook-error.js';
import { verifyWebhook } from '../../client/verify-webhook.js';
import { withTestStack } from '../harness/test-stack.js';

const WAIT = { timeout: 60_000, interval: 100 };
const CUSTOMERS = 7;

type Received = { readonly headers: IncomingHttpHeaders; readonly body: string };

/** Takes every message. */
async function startReceiver() {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, received, close: () => server.close() };
}

/** Carries every write out, and loses its answer the first time. */
function losingFetch(): typeof fetch {
  const lost = new Set<string>();
  return async (url, init) => {
    const answer = await fetch(url, init);
    const key = new Headers(init?.headers).get('idempotency-key');
    if (key === null || lost.has(key)) return answer;
    lost.add(key);
    await answer.body?.cancel();
    throw new TypeError('fetch failed');
  };
}

test('the client writes once although answers are lost, reads page by page, and knows webhooks', async () => {
  const receiver = await startReceiver();
  await withTestStack({ MINUTEBOOK_PRIVATE_TARGETS: 'allow' }, async ({ url, apiKey }) => {
    const client = new MinutebookClient({ baseUrl: `${url}/v1`, apiKey, fetch: losingFetch() });
    const endpoint = await client.post('/webhooks/endpoints', {
      body: { url: receiver.url, event_types: ['customer.created'] },
    });
    const made: string[] = [];
    for (let number = 1; number <= CUSTOMERS; number += 1) {
      const { id } = await client.post('/customers', { body: { external_id: `c${number}` } });
      made.push(id);
    }
    const found: string[] = [];
    for await (const { id } of client.each('POST', '/customers/search', { body: { limit: 3 } })) {
      found.push(id);
    }
    expect(found.sort()).toEqual([...made].sort());

    const missing = await client
      .get('/customers/{id}', { path: { id: 'cust_none' } })
      .catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(MinutebookError);
    expect(missing).toMatchObject({ status: 404, code: 'not_found' });

    await vi.waitFor(
      () => expect(receiver.received.length).toBeGreaterThanOrEqual(CUSTOMERS),
      WAIT,
    );
    const events = receiver.received.map((message) => verifyWebhook(message, endpoint.secret));
    const told = new Set(
      events.map(({ payload }) =>
        payload.event_type === 'customer.created' ? payload.customer.id : payload.event_type,
      ),
    );
    expect([...told].sort()).toEqual([...made].sort());
    const log: string[] = [];
    for await (const { id } of client.each('GET', '/webhooks/events', { query: { limit: 2 } })) {
      log.push(id);
    }
    expect(new Set(log).size).toBe(log.length);
    for (const { id } of events) expect(log).toContain(id);
  });
  receiver.close();
});
