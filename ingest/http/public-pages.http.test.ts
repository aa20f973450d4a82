import { describe, expect, vi } from 'vitest';
import { ingestTest as test, startTestIngest, type TestIngest } from '../testing/ingest-harness.js';

const RATE = 3;

async function ask(ingest: TestIngest, path: string, count: number) {
  const get = { method: 'GET', path, apiKey: null };
  return Promise.all(Array.from({ length: count }, () => ingest.send('', get)));
}

const statusesOf = (replies: readonly { readonly status: number }[]) =>
  replies.map(({ status }) => status).sort();

describe('the metrics of ingest, which need no key,', () => {
  test('are answered below and at the limit, and one more is refused with 429 in the error body', async ({
    database,
  }) => {
    const ingest = await startTestIngest(database, { publicRate: RATE });
    const replies = await ask(ingest, '/metrics', RATE + 1);
    expect(statusesOf(replies)).toEqual([200, 200, 200, 429]);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body).toEqual({
      code: 'too_many_requests',
      http_status_code: 429,
      message: 'this address may ask for 3 pages without a key per second; wait and try again',
    });
    expect(refused?.headers).toMatchObject({
      'retry-after': '1',
      'ratelimit-policy': '"public";q=3;w=1',
      ratelimit: '"public";r=0;t=1',
    });
    await vi.waitFor(
      async () => expect(statusesOf(await ask(ingest, '/metrics', 1))).toEqual([200]),
      {
        timeout: 5_000,
        interval: 100,
      },
    );
    await ingest.close();
  });

  test('are computed once for all who ask within a second', async ({ ingest }) => {
    const computed = vi.spyOn(ingest.metrics.registry, 'metrics');
    expect(statusesOf(await ask(ingest, '/metrics', 20))).toEqual(Array(20).fill(200));
    expect(computed).toHaveBeenCalledTimes(1);
  });

  test('are limited, and health checks are not', async ({ database }) => {
    const ingest = await startTestIngest(database, { publicRate: RATE });
    for (const path of ['/livez', '/readyz', '/health']) {
      expect(statusesOf(await ask(ingest, path, 10))).toEqual(Array(10).fill(200));
    }
    await ingest.close();
  });
});
