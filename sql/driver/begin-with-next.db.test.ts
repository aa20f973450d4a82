import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { Rollback } from '../pool.js';
import { test } from '../../load-tests/harness/disturbed-connection.js';

const ENVIRONMENT = { tenantId: 'tenant_a', environmentId: 'env_1' };
/** PostgreSQL takes no text with a zero character, so this one cannot be entered. */
const IMPOSSIBLE = { tenantId: 'tenant_a', environmentId: 'env_\0' };
const INVALID_TEXT = '22021';

const whoAmI = sql.type(z.object({ role: z.string(), tenant: z.string(), pid: z.number() }))`
  SELECT current_user AS role, coalesce(current_setting('minutebook.tenant_id', true), '') AS tenant,
    pg_backend_pid() AS pid`;
const failSerialization = sql.type(z.unknown())`
  DO $$ BEGIN RAISE 'try again' USING ERRCODE = 'serialization_failure'; END $$`;

const INSIDE = { role: 'minutebook_app', tenant: 'tenant_a' };
const OUTSIDE = { role: 'minutebook_programs', tenant: '' };

/** Reads and changes in the same way; both must begin as they should. */
const KINDS = ['readSnapshot', 'asEnvironment'] as const;

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

describe.for(KINDS)('%s', (kind) => {
  test('travels together with its first statement, and only with that', async ({
    wire: { proxy, pool },
  }) => {
    await pool.ping();
    proxy.disturb({
      kind: 'drop',
      match: /TRANSACTION(?![^]*set_config[^]*current_user)/,
      times: 1,
    });
    proxy.disturb({ kind: 'drop', match: /set_config(?![^]*current_user)/, times: 1 });
    proxy.disturb({ kind: 'drop', match: /set_config[^]*second/, times: 1 });
    const second = sql.type(z.object({ second: z.number() }))`SELECT 2 AS second`;
    const found = await pool[kind](ENVIRONMENT, async (connection) => [
      await connection.one(whoAmI),
      await connection.one(second),
    ]);
    expect(found).toEqual([expect.objectContaining(INSIDE), { second: 2 }]);
    expect(proxy.isSpent).toBe(false);
    await proxy.calm();
  });

  test('hands the values of the statement on, and all of its rows', async ({ wire: { pool } }) => {
    const listed = sql.type(z.object({ n: z.string(), word: z.string() }))`
      SELECT n::numeric, ${'word'} AS word FROM generate_series(1, ${3}) AS n`;
    const rows = await pool[kind](ENVIRONMENT, (connection) => connection.any(listed));
    expect(rows).toEqual(['1', '2', '3'].map((n) => ({ n, word: 'word' })));
  });

  test('runs no statement when its environment cannot be entered', async ({ wire: { pool } }) => {
    await pool.ping();
    const failures: unknown[] = [];
    const work = pool[kind](IMPOSSIBLE, async (connection) => {
      failures.push(await failureOf(connection.one(whoAmI)));
      failures.push(await failureOf(connection.one(whoAmI)));
      throw failures[1];
    });
    await expect(work).rejects.toMatchObject({ code: INVALID_TEXT });
    expect(failures).toMatchObject([{ code: INVALID_TEXT }, { code: INVALID_TEXT }]);
    expect(await pool.slonik.one(whoAmI)).toMatchObject(OUTSIDE);
    expect(await pool[kind](ENVIRONMENT, (each) => each.one(whoAmI))).toMatchObject(INSIDE);
  });

  test('leaves nothing behind when its work has no statement', async ({ wire: { pool } }) => {
    expect(await pool[kind](ENVIRONMENT, () => Promise.resolve(7))).toBe(7);
    expect(await pool.slonik.one(whoAmI)).toMatchObject(OUTSIDE);
    const failing = pool[kind](ENVIRONMENT, () => Promise.reject(new Error('no statement')));
    await expect(failing).rejects.toThrow('no statement');
    expect(await pool.slonik.one(whoAmI)).toMatchObject(OUTSIDE);
  });
});

describe('a change', () => {
  test('that is rolled back leaves a connection that serves the next', async ({
    wire: { pool },
  }) => {
    const { pid } = await pool.slonik.one(whoAmI);
    const refuse = (environment: typeof ENVIRONMENT, statements: number) =>
      pool.asEnvironment(environment, async (connection) => {
        for (let n = 0; n < statements; n += 1) await failureOf(connection.one(whoAmI));
        throw new Rollback('refused');
      });
    for (const environment of [ENVIRONMENT, IMPOSSIBLE]) {
      for (const statements of [0, 1, 2]) {
        await expect(refuse(environment, statements)).rejects.toThrow('refused');
        expect(await pool.slonik.one(whoAmI)).toEqual({ ...OUTSIDE, pid });
      }
    }
  });

  test('is begun anew, in its environment, when its first statement must be tried again', async ({
    wire: { pool },
  }) => {
    let attempts = 0;
    const found = await pool.asEnvironment(ENVIRONMENT, async (connection) => {
      attempts += 1;
      if (attempts < 4) await connection.query(failSerialization);
      return connection.one(whoAmI);
    });
    expect(found).toMatchObject(INSIDE);
    expect(attempts).toBe(4);
    attempts = 0;
    const failing = pool.asEnvironment(ENVIRONMENT, (connection) => {
      attempts += 1;
      return connection.query(failSerialization);
    });
    await expect(failing).rejects.toMatchObject({ name: 'DependencyError', isRetryable: true });
    expect(attempts).toBe(6);
  });

  test('can begin with a savepoint', async ({ wire: { pool } }) => {
    const found = await pool.asEnvironment(ENVIRONMENT, async (connection) => {
      const inner = connection.transaction(async (nested) => {
        expect(await nested.one(whoAmI)).toMatchObject(INSIDE);
        throw new Error('only this part');
      });
      await expect(inner).rejects.toThrow('only this part');
      return connection.one(whoAmI);
    });
    expect(found).toMatchObject(INSIDE);
  });
});
