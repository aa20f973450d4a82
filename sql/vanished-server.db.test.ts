import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { startFakePostgres } from '../load-tests/harness/fake-postgres.js';
import { test } from '../load-tests/harness/fixtures.js';
import { startForward } from '../load-tests/harness/forward.js';
import { postgresProcesses, signalAll } from '../load-tests/harness/signal-postgres.js';
import { startEmbeddedPostgres } from './embedded.js';
import { listen } from './listen.js';
import { createDatabase, type Database } from './pool.js';
import { withSession } from './session.js';

const ENVIRONMENT = { tenantId: 'tenant_a', environmentId: 'env_1' };
const STATEMENT_TIMEOUT_MS = 500;
/** The time of a statement, the margin for its answer, and what a busy machine adds. */
const BOUND_MS = STATEMENT_TIMEOUT_MS + 2_000 + 3_000;
const OUTAGE = { name: 'DependencyError', isRetryable: true };

const one = sql.type(z.object({ one: z.number() }))`SELECT 1 AS one`;
const sessionPid = sql.type(z.object({ pid: z.number() }))`SELECT pg_backend_pid() AS pid`;

const openPool = (url: string, poolSize: number): Promise<Database> =>
  createDatabase(url, { poolSize, role: 'owner', statementTimeoutMs: STATEMENT_TIMEOUT_MS });

/** Why it failed, and how long that took. */
async function failing(work: Promise<unknown>): Promise<{ error: unknown; afterMs: number }> {
  const startMs = performance.now();
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, afterMs: performance.now() - startMs };
}

const WAYS: readonly (readonly [string, (pool: Database) => Promise<unknown>])[] = [
  ['a statement', (pool) => pool.slonik.one(one)],
  ['a transaction', (pool) => pool.transaction((connection) => connection.one(one))],
  ['a change', (pool) => pool.asEnvironment(ENVIRONMENT, (connection) => connection.one(one))],
  ['a snapshot', (pool) => pool.readSnapshot(ENVIRONMENT, (connection) => connection.one(one))],
];

describe('on a server that lets clients in and then never answers', () => {
  test.for(WAYS)('%s ends in time, as an outage worth a retry', async ([, ask]) => {
    const server = await startFakePostgres();
    const pool = await openPool(server.url, 1);
    const { error, afterMs } = await failing(ask(pool));
    expect(error).toMatchObject(OUTAGE);
    expect(afterMs).toBeLessThan(BOUND_MS);
    await pool.close();
    await server.close();
  });

  test('what waits for a connection ends in time, too, and so does the pool', async () => {
    const server = await startFakePostgres();
    const pool = await openPool(server.url, 2);
    const all = await Promise.all(Array.from({ length: 12 }, () => failing(pool.slonik.one(one))));
    for (const { error, afterMs } of all) {
      expect(error).toMatchObject(OUTAGE);
      expect(afterMs).toBeLessThan(2 * BOUND_MS);
    }
    const { error, afterMs } = await failing(pool.close());
    expect(error).toBeNull();
    expect(afterMs).toBeLessThan(BOUND_MS);
    await server.close();
  });

  test('what waits for a connection ends in time when the server then goes away', async () => {
    const server = await startFakePostgres();
    const pool = await openPool(server.url, 1);
    const asked = Array.from({ length: 6 }, () => failing(pool.slonik.one(one)));
    await vi.waitFor(() => expect(server.welcomed()).toBe(2));
    await server.close();
    for (const { error, afterMs } of await Promise.all(asked)) {
      expect(error).toMatchObject(OUTAGE);
      expect(afterMs).toBeLessThan(BOUND_MS);
    }
    await pool.close();
  });

  test('a session ends in time, with its statement and without', async () => {
    const server = await startFakePostgres();
    const limit = { statementTimeoutMs: STATEMENT_TIMEOUT_MS };
    const asking = withSession(server.url, (session) => session.query('SELECT 1'), limit);
    const asked = await failing(asking);
    expect(asked.error).toMatchObject(OUTAGE);
    expect(asked.afterMs).toBeLessThan(BOUND_MS);
    const opened = await failing(withSession(server.url, () => Promise.resolve()));
    expect(opened.error).toBeNull();
    expect(opened.afterMs).toBeLessThan(BOUND_MS);
    await server.close();
  });

  test('who listens opens a new connection', async () => {
    const server = await startFakePostgres();
    const to = { channel: 'test_channel', payload: 'us' };
    const listening = listen(server.url, to, () => undefined);
    await vi.waitFor(() => expect(server.welcomed()).toBeGreaterThan(1), { timeout: 20_000 });
    await listening.close();
    await server.close();
  });
});

describe('when PostgreSQL stops in the middle', () => {
  test('statements end in time, and no connection that had one is used again', async ({
    directory,
  }) => {
    const server = await startEmbeddedPostgres({ directory, port: 0 });
    const pool = await openPool(server.url, 2);
    const sessions = await Promise.all([pool.slonik.one(sessionPid), pool.slonik.one(sessionPid)]);
    const processes = await postgresProcesses(server);
    signalAll(processes, 'SIGSTOP');
    const all = await Promise.all(
      Array.from({ length: 4 }, () => failing(pool.slonik.one(sessionPid))),
    );
    signalAll(processes, 'SIGCONT');
    for (const { error } of all) expect(error).toMatchObject(OUTAGE);
    const later = await Promise.all([pool.slonik.one(sessionPid), pool.slonik.one(sessionPid)]);
    const before = sessions.map(({ pid }) => pid);
    for (const { pid } of later) expect(before).not.toContain(pid);
    await pool.close();
    await server.stop();
  });

  test('a pool works on with the server that takes its place', async ({ directory }) => {
    const first = await startEmbeddedPostgres({ directory: `${directory}/first`, port: 0 });
    const second = await startEmbeddedPostgres({ directory: `${directory}/second`, port: 0 });
    const { username, password } = new URL(first.url);
    await withSession(second.url, (session) =>
      session.query(`ALTER ROLE ${username} PASSWORD ${session.escapeLiteral(password)}`),
    );
    let target = first.url;
    const forward = await startForward(() => Number(new URL(target).port));
    const pool = await openPool(forward.address(first.url), 2);
    let heard = 0;
    const to = { channel: 'test_channel', payload: 'us' };
    const listening = listen(forward.address(first.url), to, () => {
      heard += 1;
    });
    await vi.waitFor(() => expect(heard).toBe(1));
    await pool.ping();
    const processes = await postgresProcesses(first);
    signalAll(processes, 'SIGSTOP');
    target = second.url;
    const all = await Promise.all(Array.from({ length: 4 }, () => failing(pool.slonik.one(one))));
    // One of the two places had a connection to the first server.
    expect(all.some(({ error }) => error !== null)).toBe(true);
    for (const { error } of all) if (error !== null) expect(error).toMatchObject(OUTAGE);
    expect(await Promise.all([pool.slonik.one(one), pool.slonik.one(one)])).toHaveLength(2);
    await vi.waitFor(() => expect(heard).toBe(2), { timeout: 40_000 });
    await listening.close();
    await pool.close();
    signalAll(processes, 'SIGCONT');
    await forward.close();
    await Promise.all([first.stop(), second.stop()]);
  });
});
