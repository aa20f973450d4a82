import { describe, expect, vi } from 'vitest';
import { withBillingApi, type BillingUnderTest } from '../testing/billing-harness.js';
import { test } from '../testing/billing-test.js';

const RATE = 3;
const REFUSED = {
  code: 'too_many_requests',
  http_status_code: 429,
  message: 'this address may ask for 3 pages without a key per second; wait and try again',
};

async function ask(
  { url }: BillingUnderTest,
  paths: readonly string[],
): Promise<readonly Response[]> {
  return Promise.all(paths.map((path) => fetch(`${url}${path}`)));
}

const times = (path: string, count: number): readonly string[] =>
  Array.from({ length: count }, () => path);

const statusesOf = (answers: readonly Response[]) => answers.map(({ status }) => status).sort();

describe('what billing-api shows without a key', () => {
  test.for([
    ['the document', times('/openapi.json', RATE)],
    ['the metrics', times('/metrics', RATE)],
    ['the reference with its files', ['/docs/try', '/docs/try/start.js', '/openapi.json']],
  ] as const)(
    '%s is answered below and at the limit, and one more is refused with 429 in the error body',
    async ([, paths], { database, clickhouse }) => {
      const engines = {
        database: database.database,
        clickhouse: clickhouse.client,
        publicRate: RATE,
      };
      await withBillingApi(engines, async (api) => {
        const answers = await ask(api, [...paths, paths[0] ?? '']);
        expect(statusesOf(answers)).toEqual([200, 200, 200, 429]);
        const refused = answers.find(({ status }) => status === 429);
        expect(await refused?.json()).toEqual(REFUSED);
        expect(refused?.headers.get('retry-after')).toBe('1');
        expect(refused?.headers.get('ratelimit-policy')).toBe('"public";q=3;w=1');
        expect(refused?.headers.get('ratelimit')).toBe('"public";r=0;t=1');
      });
    },
  );

  test('has one limit for the metrics and one for the reference, and none for health checks', async ({
    database,
    clickhouse,
  }) => {
    const engines = {
      database: database.database,
      clickhouse: clickhouse.client,
      publicRate: RATE,
    };
    await withBillingApi(engines, async (api) => {
      const paths = ['/metrics', '/openapi.json', '/livez', '/readyz', '/health'];
      const all = paths.flatMap((path) => times(path, RATE));
      expect(new Set(statusesOf(await ask(api, all)))).toEqual(new Set([200]));
      expect(statusesOf(await ask(api, times('/livez', 10)))).toEqual(Array(10).fill(200));
    });
  });

  test('is computed once: the metrics for all who ask within a second', async ({ api }) => {
    const computed = vi.spyOn(api.metrics.registry, 'metrics');
    expect(statusesOf(await ask(api, times('/metrics', 20)))).toEqual(Array(20).fill(200));
    expect(computed).toHaveBeenCalledTimes(1);
  });
});
