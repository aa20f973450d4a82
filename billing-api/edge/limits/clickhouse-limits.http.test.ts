import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import type { ClickHouse, ClickHouseQueries } from '../../../clickhouse/client.js';
import { API_KEY, withBillingApi } from '../../testing/billing-harness.js';
import { test } from '../../testing/billing-test.js';

const QUESTION = { event_name: 'call', aggregation_type: 'COUNT' };
const WAIT = { timeout: 10_000, interval: 50 };

/** Runs for about a minute unless somebody ends it; the name makes it known. */
const slowStatement = (name: string): string =>
  `SELECT sum(sleepEachRow(0.1)) AS slept, '${name}' AS name FROM numbers(600) SETTINGS max_block_size = 1`;
const LARGE_STATEMENT = 'SELECT length(groupArray(number)) AS rows FROM numbers(200000000)';

/** A client that runs this statement in the place of every one of a request, as the request would. */
function askingInstead(
  client: ClickHouse,
  statement: string,
  settings: ClickHouseSettings = {},
): ClickHouse {
  const withOptions: ClickHouse['withOptions'] = (shared) => {
    const queries = client.withOptions({
      ...shared,
      settings: { ...shared.settings, ...settings },
    });
    const replaced: ClickHouseQueries = {
      query: (_select, _parameters, row) => queries.query(statement, {}, row),
      visitRows: (query, visit) =>
        queries.visitRows({ ...query, select: statement, parameters: {} }, visit),
    };
    return replaced as ClickHouse;
  };
  return new Proxy(client, {
    get: (target, key) =>
      key === 'withOptions' ? withOptions : (Reflect.get(target, key) as unknown),
  });
}

async function runningStatements(client: ClickHouse, name: string): Promise<number> {
  const rows = await client.query(
    `SELECT query_id FROM system.processes
     WHERE position(query, {name:String}) > 0 AND position(query, 'sleepEachRow') > 0
       AND position(query, 'system.processes') = 0`,
    { name },
    z.unknown(),
  );
  return rows.length;
}

const REMEDY = 'ask for a shorter time range, fewer meters or fewer customers';

describe('a question whose statement is above its limits', () => {
  const CASES = {
    memory: { statement: LARGE_STATEMENT, settings: {} },
    time: { statement: slowStatement('timed'), settings: { max_execution_time: 1 } },
  };
  test.for(Object.entries(CASES))(
    'of %s is 400 and says what to ask instead',
    async ([, { statement, settings }], { database: { database }, clickhouse: { client } }) => {
      const clickhouse = askingInstead(client, statement, settings);
      await withBillingApi({ database, clickhouse }, async (api) => {
        const { status, body } = await api.call('POST', '/v1/events/usage', { body: QUESTION });
        expect([status, body.code]).toEqual([400, 'validation_error']);
        expect(body.message).toContain(REMEDY);
      });
    },
  );
});

describe('a client that leaves', () => {
  test('ends its statement at the server within two seconds', async ({
    database: { database },
    clickhouse: { client },
  }) => {
    const name = `left_${Math.random()}`;
    const clickhouse = askingInstead(client, slowStatement(name));
    await withBillingApi({ database, clickhouse }, async (api) => {
      const leaving = new AbortController();
      const asking = fetch(`${api.url}/v1/events/usage`, {
        method: 'POST',
        headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify(QUESTION),
        signal: leaving.signal,
      });
      const left = expect(asking).rejects.toThrow();
      await vi.waitFor(async () => expect(await runningStatements(client, name)).toBe(1), WAIT);
      leaving.abort();
      await left;
      await delay(1_500);
      expect(await runningStatements(client, name)).toBe(0);
    });
  });
});
