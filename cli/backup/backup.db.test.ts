import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { test } from '../../load-tests/harness/fixtures.js';
import { makeKey } from '../../load-tests/harness/make-key.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';
import {
  startProgram,
  waitUntilReady,
  type StartedProgram,
} from '../../load-tests/harness/start-program.js';

const PROGRAMS = ['ingest', 'aggregator', 'billing-api'] as const;
const WAIT = { timeout: 30_000, interval: 100 };
const EVENTS = 60;

type Servers = { readonly DATABASE_URL: string; readonly CLICKHOUSE_URL: string };

/** The three programs on these servers, as a client meets them. */
class Product {
  private constructor(
    private readonly programs: readonly StartedProgram[],
    private readonly apiKey: string,
  ) {}

  static async start(servers: Servers, apiKey: string): Promise<Product> {
    const settings = { ...servers, MINUTEBOOK_LOG_LEVEL: 'fatal' };
    const programs = await Promise.all(PROGRAMS.map((name) => startProgram(name, settings)));
    await Promise.all(programs.map(({ url }) => waitUntilReady(url)));
    return new Product(programs, apiKey);
  }

  async post<T>(path: string, body: object): Promise<T> {
    const [ingest, , billingApi] = this.programs;
    const url = path === '/v1/events/bulk' ? ingest?.url : billingApi?.url;
    const headers = { 'x-api-key': this.apiKey, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }

  async stop(): Promise<void> {
    await Promise.all(this.programs.map((program) => program.stop()));
  }
}

const eventOf = (number: number) => ({
  event_name: 'call',
  external_customer_id: 'acme',
  event_id: `event ${number}`,
  timestamp: `2026-10-${String(1 + (number % 28)).padStart(2, '0')}T10:00:00.000Z`,
  properties: { user: `user ${number % 7}`, text: 'tab\tand\nline', bytes: `${number}.000000001` },
});

const METERS = [
  { name: 'Calls', aggregation: { type: 'COUNT' } },
  { name: 'Users', aggregation: { type: 'COUNT_UNIQUE', field: 'user' } },
  { name: 'Bytes', aggregation: { type: 'SUM', field: 'bytes' } },
  { name: 'Last', aggregation: { type: 'LATEST', field: 'bytes' } },
] as const;

/** The usage of every meter, as the interface answers it. */
async function usageOf(product: Product, meterIds: readonly string[]): Promise<readonly string[]> {
  const range = { start_time: '2026-10-01T00:00:00Z', end_time: '2026-11-01T00:00:00Z' };
  const asked = meterIds.map((meter_id) =>
    product.post<object>('/v1/events/usage/meter', {
      meter_id,
      external_customer_id: 'acme',
      ...range,
    }),
  );
  return (await Promise.all(asked)).map((answer) =>
    JSON.stringify({ ...answer, data_until: null }),
  );
}

async function sendAll(product: Product, from: number, to: number): Promise<void> {
  const events = Array.from({ length: to - from }, (_, index) => eventOf(from + index));
  await product.post('/v1/events/bulk', { events });
}

/** It starts three products and runs five verbs, which takes a minute beside other tests. */
const MINUTES = 240_000;

describe('minutebook backup and restore', () => {
  test(
    'carry over every row, so that the restored product answers alike and counts no event twice',
    async ({ database, clickhouse, emptyDatabaseUrl, emptyClickHouseUrl, directory }) => {
      const servers = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
      const { apiKey } = await makeKey(database.database, {});
      const product = await Product.start(servers, apiKey);
      const meterIds: string[] = [];
      let usage: readonly string[] = [];
      const target = join(directory, 'backup');
      try {
        await product.post('/v1/customers', { external_id: 'acme', name: 'Acme' });
        for (const meter of METERS) {
          const made = await product.post<{ id: string }>('/v1/meters', {
            event_name: 'call',
            ...meter,
          });
          meterIds.push(made.id);
        }
        await sendAll(product, 0, EVENTS);
        await sendAll(product, 0, 10);
        await vi.waitFor(async () => {
          const [calls] = await usageOf(product, meterIds);
          expect(calls).toContain(`"${EVENTS}"`);
        }, WAIT);
        // Asked again: each meter of the answer before was read at an instant of its own.
        usage = await usageOf(product, meterIds);

        const refused = await runVerb(servers, 'backup', target);
        expect(refused.status).toBe(1);
        expect(refused.said).toMatch(
          /^a backup copies rows, and 1 of the aggregators still run: .*Stop every/,
        );
      } finally {
        await product.stop();
      }
      const made = await runVerb(servers, 'backup', target);
      expect(made.said).toMatch(/holds a whole backup of 20.*\nPostgreSQL: \d+ rows.*\nClickHouse/);
      expect(await readdir(target)).toEqual(['clickhouse', 'manifest.json', 'postgres']);

      const restored = { DATABASE_URL: emptyDatabaseUrl, CLICKHOUSE_URL: emptyClickHouseUrl };
      const early = await runVerb(restored, 'restore', target);
      const unprepared = 'PostgreSQL has no tables of Minutebook yet: run `minutebook migrate`\n';
      expect(early).toEqual({ status: 1, said: unprepared });
      expect((await runVerb(restored, 'migrate')).status).toBe(0);
      const done = await runVerb(restored, 'restore', target);
      expect({ status: done.status, said: done.said }).toEqual({
        status: 0,
        said: expect.stringMatching(
          /^Restored the backup of .*: rows and digest of every table agree\n/,
        ) as string,
      });
      const again = await runVerb(restored, 'restore', target);
      expect(again.said).toMatch(/^PostgreSQL is not empty: table \w+ has \d+ rows\. Restore into/);

      const second = await Product.start(restored, apiKey);
      try {
        expect(await usageOf(second, meterIds)).toEqual(usage);
        await sendAll(second, 0, EVENTS + 1);
        await vi.waitFor(async () => {
          const [calls] = await usageOf(second, meterIds);
          expect(calls).toContain(`"${EVENTS + 1}"`);
        }, WAIT);
      } finally {
        await second.stop();
      }
    },
    MINUTES,
  );
});
