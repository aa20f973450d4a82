import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { withDatabase } from '../load-tests/harness/engines.js';
import { test } from '../load-tests/harness/fixtures.js';
import { createClickHouse, type ClickHouse } from './client.js';
import { startEmbeddedClickHouse } from './embedded.js';
import { createRequestQueries, QueryTooLarge } from './request-queries.js';

const ENVIRONMENT = { tenantId: 'tenant_a', environmentId: 'env_1' };
const anything = z.unknown();

/** Runs for about a minute unless somebody ends it; the comment makes it known. */
const slowQuery = (name: string): string =>
  `SELECT sum(sleepEachRow(0.1)) AS slept, '${name}' AS name FROM numbers(600) SETTINGS max_block_size = 1`;

async function runningQueries(clickhouse: ClickHouse, name: string): Promise<number> {
  const rows = await clickhouse.query(
    `SELECT query_id FROM system.processes
     WHERE position(query, {name:String}) > 0 AND position(query, 'sleepEachRow') > 0
       AND position(query, 'system.processes') = 0`,
    { name },
    anything,
  );
  return rows.length;
}

describe('a query of a request', () => {
  test('ends at the server within two seconds after its client left', async ({
    clickhouse: { client },
  }) => {
    const name = `left_${Math.random()}`;
    const leaving = new AbortController();
    const scope = { environment: ENVIRONMENT, signal: leaving.signal };
    const queries = createRequestQueries(client, () => scope);
    const asking = queries.query(slowQuery(name), {}, anything);
    const ended = expect(asking).rejects.toThrow('has left');
    await vi.waitFor(async () => expect(await runningQueries(client, name)).toBe(1), 5_000);
    leaving.abort(new Error('the client has left'));
    await ended;
    await delay(1_500);
    expect(await runningQueries(client, name)).toBe(0);
  });

  test('is refused by name when it takes more than it may', async ({ clickhouse: { client } }) => {
    const scope = { environment: ENVIRONMENT, signal: new AbortController().signal };
    const queries = createRequestQueries(client, () => scope);
    const large = 'SELECT length(groupArray(number)) AS rows FROM numbers(200000000)';
    await expect(queries.query(large, {}, anything)).rejects.toBeInstanceOf(QueryTooLarge);
    const visiting = queries.visitRows({ select: large, parameters: {}, settings: {} }, () => 0);
    await expect(visiting).rejects.toBeInstanceOf(QueryTooLarge);
  });

  test('is refused when the work on its rows takes longer, and lets others have turns until then', async ({
    clickhouse: { client },
  }) => {
    const scope = { environment: ENVIRONMENT, signal: new AbortController().signal };
    const queries = createRequestQueries(client, () => scope, 300);
    let visits = 0;
    const work = (): void => {
      visits += 1;
      const untilMs = performance.now() + 30;
      while (performance.now() < untilMs);
    };
    let turns = 0;
    const other = setInterval(() => (turns += 1), 1);
    const select = 'SELECT number FROM numbers(1000)';
    const visiting = queries.visitRows({ select, parameters: {}, settings: {} }, work);
    await expect(visiting).rejects.toBeInstanceOf(QueryTooLarge);
    clearInterval(other);
    expect(visits).toBeLessThanOrEqual(10);
    expect(turns).toBeGreaterThanOrEqual(visits - 2);
    // The connections of what was refused are free again: there are sixteen.
    for (let count = 0; count < 20; count += 1) {
      const refused = createRequestQueries(client, () => scope, 0);
      const long = 'SELECT number FROM numbers(1000000)';
      const asked = refused.visitRows({ select: long, parameters: {}, settings: {} }, work);
      await expect(asked).rejects.toBeInstanceOf(QueryTooLarge);
    }
  });

  test('that lacks memory because of others may be tried again', async ({ directory }) => {
    // A user's limit of memory is the largest that one of its running queries names, so no other
    // test may ask this server.
    const server = await startEmbeddedClickHouse({ directory, port: 0 });
    const client = createClickHouse(withDatabase(server.url, 'default'));
    const signal = new AbortController().signal;
    const queries = createRequestQueries(client, () => ({ environment: ENVIRONMENT, signal }));
    const large = `SELECT length(groupArray(number)) AS rows FROM numbers(200000000)
      SETTINGS max_memory_usage_for_user = 50000000`;
    try {
      await expect(queries.query(large, {}, anything)).rejects.toMatchObject({
        dependency: 'clickhouse',
        isRetryable: true,
      });
    } finally {
      await client.close();
      await server.stop();
    }
  });

  test('cannot write, whoever the user is', async ({ clickhouse: { client } }) => {
    const scope = { environment: ENVIRONMENT, signal: new AbortController().signal };
    const queries = createRequestQueries(client, () => scope);
    await expect(queries.query('DROP TABLE events_v1', {}, anything)).rejects.toThrow('(164)');
  });

  test('runs beside one other of its tenant, and waits for no other tenant', async ({
    clickhouse: { client },
  }) => {
    const name = `many_${Math.random()}`;
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    let environment = ENVIRONMENT;
    const queries = createRequestQueries(client, () => ({ environment, signal: leaving.signal }));
    const slow = Array.from({ length: 20 }, () => queries.query(slowQuery(name), {}, anything));
    const all = Promise.allSettled(slow);
    await vi.waitFor(async () => expect(await runningQueries(client, name)).toBe(2), 5_000);
    environment = { ...ENVIRONMENT, environmentId: 'env_2' };
    const sibling = queries.query('SELECT 1 AS one', {}, anything);
    const siblingEnded = vi.fn();
    sibling.then(siblingEnded, () => undefined);
    environment = { tenantId: 'tenant_b', environmentId: 'env_1' };
    const startedAt = performance.now();
    await queries.query('SELECT 1 AS one', {}, anything);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(await runningQueries(client, name)).toBe(2);
    expect(siblingEnded).not.toHaveBeenCalled();
    leaving.abort(new Error('the client has left'));
    const ends = await all;
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
  });
});
