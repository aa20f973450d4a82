import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { createId } from '../../../runtime/ids.js';
import { noRows } from '../../../sql/columns.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { waitingSessions } from '../../../load-tests/harness/waiting-sessions.js';
import { API_KEY, withBillingApi } from '../../testing/billing-harness.js';
import { makeKey, test } from '../../testing/billing-test.js';
import type { DatabaseFixture, ClickHouseFixture } from '../../../load-tests/harness/fixtures.js';

const WAIT = { timeout: 10_000, interval: 10 };
const QUESTION = { event_name: 'call', aggregation_type: 'COUNT' };

/** The API whose usage questions run until they are let go. */
async function withSlowUsage(
  fixtures: { readonly database: DatabaseFixture; readonly clickhouse: ClickHouseFixture },
  work: (tools: {
    /** Sends a usage question; resolves with its status. */
    readonly ask: (apiKey?: string, signal?: AbortSignal) => Promise<number>;
    /** Questions that have begun and not been let go. */
    readonly running: () => number;
    readonly letGo: () => void;
    readonly apiKeyOfOther: string;
    /** Of another environment of the tenant. */
    readonly apiKeyOfSibling: string;
  }) => Promise<void>,
): Promise<void> {
  const gates: (() => void)[] = [];
  const engines = {
    database: fixtures.database.database,
    clickhouse: fixtures.clickhouse.client,
    dataUntil: async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return null;
    },
  };
  await withBillingApi(engines, async (api) => {
    const { apiKey: apiKeyOfOther } = await makeKey(engines.database, {});
    const environment = { ...api.environment, environmentId: createId('env') };
    const { apiKey: apiKeyOfSibling } = await makeKey(engines.database, { environment });
    await work({
      ask: async (apiKey = API_KEY, signal) => {
        const answer = await fetch(`${api.url}/v1/events/usage`, {
          method: 'POST',
          headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
          body: JSON.stringify(QUESTION),
          signal: signal ?? null,
        });
        return answer.status;
      },
      running: () => gates.length,
      letGo: () => {
        for (const open of gates.splice(0)) open();
      },
      apiKeyOfOther,
      apiKeyOfSibling,
    });
  });
}

describe('pages of more than 100 records', () => {
  test('are made one at a time for a tenant, beside small ones and other tenants', async ({
    database: { database },
    clickhouse,
  }) => {
    await withBillingApi({ database, clickhouse: clickhouse.client }, async (api) => {
      const { apiKey: ofOther } = await makeKey(database, {});
      const search = async (limit: number, apiKey = API_KEY): Promise<number> => {
        const answer = await fetch(`${api.url}/v1/customers/search`, {
          method: 'POST',
          headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
          body: JSON.stringify({ limit }),
        });
        return answer.status;
      };
      const asked = await ownerOf(database).transaction(async (tx) => {
        await tx.query(sql.type(noRows)`LOCK TABLE customers IN ACCESS EXCLUSIVE MODE`);
        const asked: Promise<number>[] = [];
        const waiting = async (expected: number): Promise<void> => {
          await expect.poll(() => waitingSessions(tx), WAIT).toBe(expected);
        };
        for (let count = 0; count < 8; count += 1) asked.push(search(101));
        await waiting(1);
        asked.push(search(101, ofOther));
        await waiting(2);
        asked.push(search(100));
        await waiting(3);
        await delay(200);
        expect(await waitingSessions(tx)).toBe(3);
        return { asked };
      });
      expect(await Promise.all(asked.asked)).toEqual(Array.from({ length: 10 }, () => 200));
    });
  });
});

describe('requests of one tenant', () => {
  test('do not keep a small one of another waiting, however many wait', async ({
    api,
    database: { database },
  }) => {
    const { apiKey } = await makeKey(database, {});
    const { tenantId, environmentId } = api.environment;
    await ownerOf(database).query(sql.type(noRows)`
      INSERT INTO customers (id, tenant_id, environment_id, external_id, name, metadata, status,
        created_at, updated_at)
      SELECT 'cust_' || lpad(number::text, 26, '0'), ${tenantId}, ${environmentId},
        'c-' || number, 'Customer', '{}', 'published', now(), now()
      FROM generate_series(1, 100) AS number`);
    const done: string[] = [];
    const body = { limit: 100 };
    const greedy = Array.from({ length: 60 }, async () => {
      expect((await api.make('/v1/customers/search', body)).items).toHaveLength(100);
      done.push('large');
    });
    const headers = { 'x-api-key': apiKey };
    const small = api.call('GET', '/v1/users/me', { headers }).then(() => done.push('small'));
    await Promise.all([...greedy, small]);
    expect(done.indexOf('small')).toBeLessThan(30);
  });

  test('that wait for each other leave connections to others', async ({
    database: { database },
    clickhouse,
  }) => {
    await withBillingApi({ database, clickhouse: clickhouse.client }, async (api) => {
      const { apiKey } = await makeKey(database, {});
      const { asked } = await ownerOf(database).transaction(async (tx) => {
        await tx.query(sql.type(noRows)`LOCK TABLE customers IN ACCESS EXCLUSIVE MODE`);
        const asked = Array.from({ length: 24 }, () => api.make('/v1/customers/search', {}));
        await expect.poll(() => waitingSessions(tx), WAIT).toBe(8);
        const headers = { 'x-api-key': apiKey };
        expect((await api.call('GET', '/v1/users/me', { headers })).status).toBe(200);
        return { asked };
      });
      await Promise.all(asked);
    });
  });
});

describe('heavy requests', () => {
  test('run eight at once per tenant, whatever the environment; the next runs when one is done', async ({
    database,
    clickhouse,
  }) => {
    await withSlowUsage({ database, clickhouse }, async (tools) => {
      const first = Array.from({ length: 8 }, () => tools.ask());
      await vi.waitFor(() => expect(tools.running()).toBe(8), WAIT);
      const ninth = tools.ask(tools.apiKeyOfSibling);
      const other = tools.ask(tools.apiKeyOfOther);
      await vi.waitFor(() => expect(tools.running()).toBe(9), WAIT);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(tools.running()).toBe(9);
      tools.letGo();
      expect(await Promise.all([...first, other])).toEqual(Array.from({ length: 9 }, () => 200));
      await vi.waitFor(() => expect(tools.running()).toBe(1), WAIT);
      tools.letGo();
      expect(await ninth).toBe(200);
    });
  });

  test('that wait longer than 5 s are answered 429', async ({ database, clickhouse }) => {
    await withSlowUsage({ database, clickhouse }, async (tools) => {
      const first = Array.from({ length: 8 }, () => tools.ask());
      await vi.waitFor(() => expect(tools.running()).toBe(8), WAIT);
      const startedAt = performance.now();
      expect(await tools.ask()).toBe(429);
      expect(performance.now() - startedAt).toBeGreaterThan(4_900);
      tools.letGo();
      await Promise.all(first);
    });
  });

  test('of a client that leaves the queue never run', async ({ database, clickhouse }) => {
    await withSlowUsage({ database, clickhouse }, async (tools) => {
      const first = Array.from({ length: 8 }, () => tools.ask());
      await vi.waitFor(() => expect(tools.running()).toBe(8), WAIT);
      const leaving = new AbortController();
      const left = tools.ask(API_KEY, leaving.signal).catch(() => 0);
      await new Promise((resolve) => setTimeout(resolve, 300));
      leaving.abort();
      expect(await left).toBe(0);
      await new Promise((resolve) => setTimeout(resolve, 300));
      tools.letGo();
      await Promise.all(first);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(tools.running()).toBe(0);
    });
  });

  test('of a client that leaves while they run keep their place until they end', async ({
    database,
    clickhouse,
  }) => {
    await withSlowUsage({ database, clickhouse }, async (tools) => {
      const leaving = new AbortController();
      const first = Array.from({ length: 8 }, () =>
        tools.ask(API_KEY, leaving.signal).catch(() => 0),
      );
      await vi.waitFor(() => expect(tools.running()).toBe(8), WAIT);
      leaving.abort();
      await Promise.all(first);
      const next = tools.ask();
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(tools.running()).toBe(8);
      tools.letGo();
      await vi.waitFor(() => expect(tools.running()).toBe(1), WAIT);
      tools.letGo();
      expect(await next).toBe(200);
    });
  });
});
