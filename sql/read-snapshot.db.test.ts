import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import type { Database } from './pool.js';
import { withSession } from './session.js';
import { test } from '../load-tests/harness/disturbed-connection.js';

const ENVIRONMENT = { tenantId: 'tenant_a', environmentId: 'env_1' };
const OTHER = { tenantId: 'tenant_b', environmentId: 'env_2' };
const HELD_MS = 1_000;

const whoAmI = sql.type(z.object({ role: z.string(), tenant: z.string(), pid: z.number() }))`
  SELECT current_user AS role, current_setting('minutebook.tenant_id', true) AS tenant,
    pg_backend_pid() AS pid`;

const read = (database: Database, environment = ENVIRONMENT) =>
  database.readSnapshot(environment, (connection) => connection.one(whoAmI));

/** As `read`, and waits until the only connection is free again. */
async function readToTheEnd(database: Database) {
  const found = await read(database);
  await database.ping();
  return found;
}

const sinceMs = (start: number): number => performance.now() - start;

describe('a reading', () => {
  test('is answered while the end of its transaction travels, which keeps the connection', async ({
    wire: { proxy, pool },
  }) => {
    const { pid } = await readToTheEnd(pool);
    proxy.disturb({ kind: 'slow', match: /COMMIT/, times: 1, holdMs: HELD_MS });
    const start = performance.now();
    expect(await read(pool)).toMatchObject({ role: 'minutebook_app', tenant: 'tenant_a', pid });
    expect(sinceMs(start)).toBeLessThan(HELD_MS / 2);
    // Whoever comes next waits for the end, and is in an environment of its own.
    const next = await read(pool, OTHER);
    expect(next).toEqual({ role: 'minutebook_app', tenant: 'tenant_b', pid });
    expect(sinceMs(start)).toBeGreaterThan(HELD_MS);
    expect((await pool.slonik.one(whoAmI)).role).toBe('minutebook_programs');
  });

  test('is answered although its COMMIT never arrives; the connection is replaced', async ({
    wire: { proxy, pool },
  }) => {
    const { pid } = await readToTheEnd(pool);
    proxy.disturb({ kind: 'drop', match: /COMMIT/, times: 1 });
    expect(await read(pool)).toMatchObject({ tenant: 'tenant_a', pid });
    const next = await read(pool, OTHER);
    expect(proxy.isSpent).toBe(true);
    expect(next).toMatchObject({ role: 'minutebook_app', tenant: 'tenant_b' });
    expect(next.pid).not.toBe(pid);
  });

  test('fails when it cannot begin, enter its environment or read', async ({
    wire: { proxy, pool },
  }) => {
    for (const match of [/START TRANSACTION/, /set_config/, /current_user/]) {
      await readToTheEnd(pool);
      proxy.disturb({ kind: 'drop', match, times: 1 });
      await expect(read(pool)).rejects.toMatchObject({
        name: 'DependencyError',
        isRetryable: true,
      });
    }
    const failing = pool.readSnapshot(ENVIRONMENT, () => Promise.reject(new Error('unreadable')));
    await expect(failing).rejects.toThrow('unreadable');
    expect((await read(pool)).tenant).toBe('tenant_a');
  });

  test('has its transaction ended by a shutdown that comes meanwhile', async ({
    wire: { proxy, pool },
    database: { url },
  }) => {
    const { pid } = await readToTheEnd(pool);
    proxy.disturb({ kind: 'slow', match: /COMMIT/, times: 1, holdMs: HELD_MS });
    const start = performance.now();
    await read(pool);
    await pool.close();
    expect(sinceMs(start)).toBeGreaterThan(HELD_MS);
    await expect(read(pool)).rejects.toThrow();
    const left = await withSession(url, (session) =>
      session.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid]),
    );
    expect(left.rowCount).toBe(0);
  });
});
