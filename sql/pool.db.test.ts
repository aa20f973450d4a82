import { SchemaValidationError, sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../load-tests/harness/fixtures.js';
import { ownerOf } from '../load-tests/harness/owner.js';
import { FaultProxy } from '../load-tests/proofs/faults/engines/fault-proxy.js';
import { DependencyError } from '../runtime/failure.js';
import { drawFreePort } from '../runtime/port.js';
import { noRows } from './columns.js';
import { createDatabase, type Database } from './pool.js';
import { withSession } from './session.js';

const ALPHA = { tenantId: 'tenant_a', environmentId: 'env_1' };
const BETA = { tenantId: 'tenant_a', environmentId: 'env_2' };
const anything = z.unknown();

const insertMeter = (environment: typeof ALPHA, id: string) => sql.type(noRows)`
  INSERT INTO meter_versions
    (meter_id, version, tenant_id, environment_id, event_name, activated_in)
  VALUES (${id}, 1, ${environment.tenantId}, ${environment.environmentId}, 'call', 1)`;

const meterIds = sql.type(z.object({ meter_id: z.string() }))`
  SELECT meter_id FROM meter_versions ORDER BY meter_id`;

const whoAmI = sql.type(z.object({ role: z.string(), tenant: z.string().nullable() }))`
  SELECT current_user AS role, current_setting('minutebook.tenant_id', true) AS tenant`;

async function twoEnvironments(database: Database): Promise<void> {
  await database.asEnvironment(ALPHA, (connection) =>
    connection.query(insertMeter(ALPHA, 'meter_alpha')),
  );
  await database.asEnvironment(BETA, (connection) =>
    connection.query(insertMeter(BETA, 'meter_beta')),
  );
}

describe('column types', () => {
  test('keeps every digit of numeric and int8', async ({ database: { database } }) => {
    const row = await database.slonik.one(sql.type(anything)`
      SELECT 0.10000000000000000001 AS amount, 9007199254740993::int8 AS count,
             ARRAY[1.10, 2.20] AS amounts`);
    expect(row).toEqual({
      amount: '0.10000000000000000001',
      count: '9007199254740993',
      amounts: ['1.10', '2.20'],
    });
  });

  test('reads timestamptz as milliseconds, whatever time zone it was written in', async ({
    database: { database },
  }) => {
    const row = await database.slonik.one(sql.type(anything)`
      SELECT '2026-11-20T10:00:00.123+05:30'::timestamptz AS given,
             '1969-12-31T23:59:59.999Z'::timestamptz AS before_1970,
             '2199-12-31T23:59:59.001Z'::timestamptz AS late,
             '2026-02-28'::date AS day`);
    expect(row).toEqual({
      given: Date.UTC(2026, 10, 20, 4, 30, 0, 123),
      before_1970: -1,
      late: Date.UTC(2199, 11, 31, 23, 59, 59, 1),
      day: '2026-02-28',
    });
  });

  test('works in UTC, whatever time zone the server prefers', async ({ database: { url } }) => {
    await withSession(url, (session) =>
      session.query(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Kolkata''',
        current_database()); END $$`),
    );
    const database = await createDatabase(url, { poolSize: 1 });
    const row = await database.slonik.one(sql.type(anything)`
      SELECT '2026-11-20T10:00:00Z'::timestamptz AS at, '2026-11-20T23:00:00Z'::timestamptz::date AS day`);
    await database.close();
    expect(row).toEqual({ at: Date.UTC(2026, 10, 20, 10), day: '2026-11-20' });
  });

  test('refuses a row that does not match the schema of its statement', async ({
    database: { database },
  }) => {
    const query = sql.type(z.object({ amount: z.number() }))`SELECT 1.5 AS amount`;
    await expect(database.slonik.one(query)).rejects.toBeInstanceOf(SchemaValidationError);
  });
});

describe('isolation of environments', () => {
  test('shows a query without WHERE only the rows of its environment', async ({
    database: { database },
  }) => {
    await twoEnvironments(database);
    const seen = await database.asEnvironment(ALPHA, (connection) => connection.any(meterIds));
    expect(seen).toEqual([{ meter_id: 'meter_alpha' }]);
    const all = await ownerOf(database).any(meterIds);
    expect(all).toEqual([{ meter_id: 'meter_alpha' }, { meter_id: 'meter_beta' }]);
  });

  test('shows nothing to a transaction that names no environment', async ({
    database: { database },
  }) => {
    await twoEnvironments(database);
    const seen = await database.transaction(async (connection) => {
      await connection.query(sql.type(anything)`SET LOCAL ROLE minutebook_app`);
      return connection.any(meterIds);
    });
    expect(seen).toEqual([]);
  });

  test('refuses to write into another environment', async ({ database: { database } }) => {
    await twoEnvironments(database);
    const foreign = database.asEnvironment(ALPHA, (connection) =>
      connection.query(insertMeter(BETA, 'meter_foreign')),
    );
    await expect(foreign).rejects.toMatchObject({ code: '42501' });
    const changed = await database.asEnvironment(ALPHA, (connection) =>
      connection.query(sql.type(noRows)`UPDATE meter_versions SET event_name = 'stolen'`),
    );
    expect(changed.rowCount).toBe(1);
  });

  test('resets role and environment of the connection afterwards', async ({
    database: { url },
  }) => {
    const database = await createDatabase(url, { poolSize: 1 });
    const inside = await database.asEnvironment(ALPHA, (connection) => connection.one(whoAmI));
    const failing = database.asEnvironment(ALPHA, () => Promise.reject(new Error('refused')));
    await expect(failing).rejects.toThrow('refused');
    const outside = await database.slonik.one(whoAmI);
    await database.close();
    expect(inside).toEqual({ role: 'minutebook_app', tenant: 'tenant_a' });
    expect(outside.role).toBe('minutebook_programs');
    expect(outside.tenant ?? '').toBe('');
  });

  test('rolls back a transaction that throws', async ({ database: { database } }) => {
    const failing = database.asEnvironment(ALPHA, async (connection) => {
      await connection.query(insertMeter(ALPHA, 'meter_alpha'));
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await ownerOf(database).any(meterIds)).toEqual([]);
  });
});

describe('outages', () => {
  test('reports an unreachable server as retryable', async () => {
    const port = await drawFreePort();
    const opening = createDatabase(`postgres://a:b@127.0.0.1:${String(port)}/c`, { poolSize: 1 });
    await expect(opening).rejects.toMatchObject({
      name: 'DependencyError',
      dependency: 'postgres',
      isRetryable: true,
    });
  });

  test('reports refused credentials as not retryable', async ({ database: { url } }) => {
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(createDatabase(wrong.href, { poolSize: 1 })).rejects.toMatchObject({
      name: 'DependencyError',
      isRetryable: false,
    });
  });

  test('reports a connection cut inside a transaction as retryable, and recovers', async ({
    database: { url, database },
  }) => {
    const cut = database.transaction(async (connection) => {
      const row = await connection.one(
        sql.type(z.object({ pid: z.number() }))`SELECT pg_backend_pid() AS pid`,
      );
      await withSession(url, (session) =>
        session.query('SELECT pg_terminate_backend($1)', [row.pid]),
      );
      return connection.one(sql.type(anything)`SELECT 1 AS one`);
    });
    await expect(cut).rejects.toMatchObject({ name: 'DependencyError', isRetryable: true });
    expect(await database.slonik.one(sql.type(anything)`SELECT 1 AS one`)).toEqual({ one: 1 });
  });

  test('has a connection for the next, however many are lost under their statements', async ({
    database: { url },
  }) => {
    const proxy = await FaultProxy.open(Number(new URL(url).port));
    const database = await createDatabase(proxy.address(url), { poolSize: 2 });
    const ask = () => database.slonik.one(sql.type(anything)`SELECT 'lost' AS found`);
    // A caller that ignores the error of its statement and goes on.
    const askInVain = () =>
      database.slonik.connect((connection) =>
        connection.query(sql.type(anything)`SELECT 'lost'`).catch(() => null),
      );
    for (const asking of [ask, askInVain, ask]) {
      proxy.disturb({ kind: 'drop', match: /lost/, times: 2 });
      for (const answer of await Promise.allSettled([asking(), asking(), asking()])) {
        if (answer.status === 'fulfilled') continue;
        expect(answer.reason).toMatchObject({ name: 'DependencyError', isRetryable: true });
      }
      await proxy.calm();
      expect(await Promise.all([ask(), ask()])).toEqual([{ found: 'lost' }, { found: 'lost' }]);
    }
    await database.close();
    await proxy.close();
  });

  test('reports a statement that takes too long as an outage', async ({
    database: { database },
  }) => {
    const slow = database.transaction(async (connection) => {
      await connection.query(sql.type(anything)`SET LOCAL statement_timeout = 50`);
      return connection.query(sql.type(anything)`SELECT pg_sleep(5)`);
    });
    await expect(slow).rejects.toBeInstanceOf(DependencyError);
  });

  test('does not report a violated constraint as an outage', async ({ database: { database } }) => {
    await twoEnvironments(database);
    const repeated = ownerOf(database).query(insertMeter(ALPHA, 'meter_alpha'));
    await expect(repeated).rejects.toMatchObject({ code: '23505' });
  });
});
