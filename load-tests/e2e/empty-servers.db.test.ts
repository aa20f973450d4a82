import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { createClickHouse } from '../../clickhouse/client.js';
import { createApiKey } from '../../sql/api-key.js';
import { createDatabase } from '../../sql/pool.js';
import { endOfProgram } from '../harness/end-of-program.js';
import { test } from '../harness/fixtures.js';
import { runVerb } from '../harness/run-verb.js';
import { startProgram, waitUntilReady, type StartedProgram } from '../harness/start-program.js';

const PROGRAMS = ['ingest', 'aggregator', 'billing-api'] as const;

type Servers = { readonly DATABASE_URL: string; readonly CLICKHOUSE_URL: string };

/** Why a program ends at its start: its last and only line. */
async function refusalOf(name: (typeof PROGRAMS)[number], servers: Servers): Promise<unknown> {
  const settings = { ...servers, MINUTEBOOK_PORT: '0', MINUTEBOOK_LOG_LEVEL: 'fatal' };
  const { status, lines } = await endOfProgram(name, settings);
  expect({ status, lines: lines.length }).toEqual({ status: 1, lines: 1 });
  const line = z.object({ msg: z.literal('stopped'), error: z.string() }).strict();
  return line.strip().parse(JSON.parse(lines[0] ?? '')).error;
}

/** Health and metrics of one program, on a port with nothing else. */
async function expectOperations({ operationsUrl }: StartedProgram, index: number): Promise<void> {
  const paths = ['/livez', '/readyz', '/health', '/metrics', '/v1/meters', '/openapi.json'];
  const answers = await Promise.all(paths.map((path) => fetch(`${operationsUrl}${path}`)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404, 404]);
  const [, ready, , metrics] = await Promise.all(answers.map((answer) => answer.text()));
  expect(ready).toContain('"schema":"up"');
  expect(metrics).toContain(`minutebook_http_connections{program="${PROGRAMS[index]}"}`);
}

describe('servers of one’s own', () => {
  test('that are empty stop the programs, which name the remedy', async ({
    emptyDatabaseUrl: DATABASE_URL,
    emptyClickHouseUrl: CLICKHOUSE_URL,
  }) => {
    const refusals = PROGRAMS.map((name) => refusalOf(name, { DATABASE_URL, CLICKHOUSE_URL }));
    const empty = 'PostgreSQL has no tables of Minutebook yet: run `minutebook migrate`';
    expect(await Promise.all(refusals)).toEqual([empty, empty, empty]);
  });

  test('that lack a migration of this release stop the programs, which name it', async ({
    database,
    clickhouse,
    emptyClickHouseUrl,
  }) => {
    const servers = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
    const halfEmpty = { ...servers, CLICKHOUSE_URL: emptyClickHouseUrl };
    expect(await refusalOf('billing-api', halfEmpty)).toBe(
      'ClickHouse has no tables of Minutebook yet: run `minutebook migrate`',
    );
    const owner = await createDatabase(database.url, { poolSize: 1, role: 'owner' });
    await owner.slonik.query(sql.type(z.unknown())`
      DELETE FROM schema_migrations WHERE number IN (18, 19)`);
    await owner.close();
    expect(await refusalOf('ingest', servers)).toBe(
      'PostgreSQL lacks 0018_audit_and_events.sql and 1 more of this release: run `minutebook migrate`',
    );
  });

  test('are prepared by one command, which can be repeated; the programs then run, and their readiness tells when tables are missing', async ({
    emptyDatabaseUrl,
    emptyClickHouseUrl,
  }) => {
    const servers = { DATABASE_URL: emptyDatabaseUrl, CLICKHOUSE_URL: emptyClickHouseUrl };
    const apiKey = createApiKey('private_key');
    const first = await runVerb({ ...servers, MINUTEBOOK_BOOTSTRAP_API_KEY: apiKey }, 'migrate');
    expect(first.said).toMatch(
      /^PostgreSQL now has 0001_.*\nClickHouse now has 0001_.*\nThe first/,
    );
    const again = await runVerb(servers, 'migrate');
    const nothing =
      'PostgreSQL has all migrations already\nClickHouse has all migrations already\n';
    expect([first.status, again]).toEqual([0, { status: 0, said: nothing }]);

    const programs = await Promise.all(PROGRAMS.map((name) => startProgram(name, servers)));
    try {
      await Promise.all(programs.map(({ url }) => waitUntilReady(url)));
      const [, aggregator, billingApi] = programs;
      await Promise.all(programs.map(expectOperations));
      const headers = { 'x-api-key': apiKey };
      const answer = await fetch(`${billingApi?.url}/v1/customers/search`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{}',
      });
      expect(answer.status).toBe(200);

      const clickhouse = createClickHouse(emptyClickHouseUrl);
      await clickhouse.command('TRUNCATE TABLE schema_migrations');
      await clickhouse.close();
      await expect
        .poll(async () => (await fetch(`${aggregator?.url}/readyz`)).json(), { timeout: 10_000 })
        .toMatchObject({ status: 'not_ready', dependencies: { clickhouse: 'up', schema: 'down' } });
    } finally {
      await Promise.all(programs.map((program) => program.stop()));
    }
  });
});
