import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test as base } from '../load-tests/harness/fixtures.js';
import { readOperators } from '../load-tests/harness/pages.js';
import { encodeEventRecord } from '../contract/usage-event.js';
import { createClickHouse, type ClickHouse } from './client.js';
import { startEmbeddedClickHouse } from './embedded.js';
import { migrateClickHouse } from './migrate.js';
import { READER_TABLES, readerStatements } from './reader-user.js';
import { createRequestQueries } from './request-queries.js';

const ALPHA = { tenantId: 'tenant_a', environmentId: 'env_1' };
const BETA = { tenantId: 'tenant_b', environmentId: 'env_1' };
const GAMMA = { tenantId: 'tenant_a', environmentId: 'env_2' };
const ALL = [ALPHA, BETA, GAMMA];
/** Tables that name the tenant in a column; dead letters have it in their payload. */
const OF_TENANTS = [
  'events_v1',
  'usage_minute_v1',
  'event_duplicates_v1',
  'expired_events_v1',
  'event_corrections_v1',
  'corrected_minutes_v1',
];

type World = { readonly writer: ClickHouse; readonly reader: ClickHouse };

const payloadOf = (environment: typeof ALPHA): string =>
  encodeEventRecord({ environment, receivedAtMs: 0, events: [] });

async function fill(writer: ClickHouse): Promise<void> {
  for (const { tenantId, environmentId } of ALL) {
    const columns = { tenantId, environmentId };
    for (const table of OF_TENANTS) {
      await writer.command(
        `INSERT INTO ${table} (tenant_id, environment_id) VALUES ({tenantId:String}, {environmentId:String})`,
        columns,
      );
    }
    await writer.command('INSERT INTO dead_letters_v1 (payload) VALUES ({payload:String})', {
      payload: payloadOf(columns),
    });
  }
  // The aggregator's own rows name no tenant.
  await writer.command(`INSERT INTO usage_minute_v1 (tenant_id, meter_id) VALUES ('', '#batch')`);
  await writer.command(`INSERT INTO event_ids_v1 (log_id) VALUES ('log')`);
}

const test = base.extend<{ readonly world: World }>({
  world: async ({ directory }, use) => {
    const server = await startEmbeddedClickHouse({ directory, port: 0 });
    const writer = createClickHouse(server.url);
    const reader = createClickHouse(server.readerUrl);
    try {
      await migrateClickHouse(server.url, null);
      await fill(writer);
      await use({ writer, reader });
    } finally {
      await Promise.all([writer.close(), reader.close()]);
      await server.stop();
    }
  },
});

const anything = z.unknown();
const counted = z.object({ rows: z.coerce.number() });

describe('the ClickHouse user of the API', () => {
  test('sees the rows of the environment of the request only, whatever it asks for', async ({
    world: { writer, reader },
  }) => {
    const tables = await writer.query(
      `SELECT DISTINCT c.table AS of_table FROM system.columns AS c
       WHERE c.database = currentDatabase() AND c.name IN ('tenant_id', 'payload') ORDER BY 1`,
      {},
      z.object({ of_table: z.string() }),
    );
    // A new table with rows of tenants needs a condition.
    expect(tables.map((row) => row.of_table)).toEqual(
      Object.entries(READER_TABLES)
        .filter(([, condition]) => condition !== null)
        .map(([name]) => name)
        .sort(),
    );
    const counts = async (environment: typeof ALPHA) => {
      const scope = { environment, signal: new AbortController().signal };
      const queries = createRequestQueries(reader, () => scope);
      const found = [];
      for (const { of_table: name } of tables) {
        found.push(...(await queries.query(`SELECT count() AS rows FROM ${name}`, {}, counted)));
      }
      return found.map(({ rows }) => rows);
    };
    for (const environment of ALL) expect(await counts(environment)).toEqual(tables.map(() => 1));
    const nobody = { tenantId: 'tenant_c', environmentId: 'env_1' };
    expect(await counts(nobody)).toEqual(tables.map(() => 0));
    expect(await counts({ tenantId: '', environmentId: '' })).toEqual(tables.map(() => 0));
    // Those of another tenant are there.
    const all = await writer.query('SELECT count() AS rows FROM events_v1', {}, counted);
    expect(all).toEqual([{ rows: 3 }]);
  });

  test('sees no row of a tenant without naming an environment', async ({ world: { reader } }) => {
    const [found] = await reader.query('SELECT count() AS rows FROM usage_minute_v1', {}, counted);
    expect(found).toEqual({ rows: 0 });
  });

  const FORBIDDEN = [
    `INSERT INTO events_v1 (tenant_id) VALUES ('tenant_a')`,
    `INSERT INTO ingest_gate_v1 (log_id) VALUES ('log')`,
    'DROP TABLE events_v1',
    'TRUNCATE TABLE usage_minute_v1',
    'ALTER TABLE events_v1 DELETE WHERE 1',
    'OPTIMIZE TABLE events_v1',
    'CREATE TABLE mine (a Int8) ENGINE = Memory',
    'KILL QUERY WHERE 1',
    'SELECT * FROM ingest_gate_v1',
    'SELECT * FROM schema_migrations',
    'SELECT query FROM system.processes',
    `SELECT * FROM file('/etc/passwd', 'LineAsString')`,
    `SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')`,
    `SELECT * FROM remote('127.0.0.1', currentDatabase(), 'events_v1')`,
    'SELECT 1 SETTINGS readonly = 0',
    'SELECT 1 SETTINGS max_execution_time = 0',
    'SELECT 1 SETTINGS max_memory_usage = 0',
    'SET readonly = 0',
  ];
  test('can neither write nor administer, nor read what the API does not need', async ({
    world: { reader },
  }) => {
    const done: string[] = [];
    for (const statement of FORBIDDEN) {
      const answer = statement.startsWith('SELECT')
        ? reader.query(statement, {}, anything)
        : reader.command(statement);
      await answer.then(
        () => done.push(statement),
        () => undefined,
      );
    }
    expect(done).toEqual([]);
  });

  test('is made on a server of your own as docs/operations.md says', () => {
    expect(readOperators()).toContain(readerStatements('minutebook').join('\n'));
  });
});
