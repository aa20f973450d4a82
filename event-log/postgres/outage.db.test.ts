import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test as plain } from 'vitest';
import { postgresProcesses, signalAll } from '../../load-tests/harness/signal-postgres.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../sql/embedded.js';
import { migrateDatabase } from '../../sql/migrate.js';
import {
  CONTRACT_PARTITIONS,
  readAll,
  registerOutageContract,
  text,
  valuesOf,
  type LogUnderTest,
  type Outage,
} from '../testing/event-log.contract.js';
import { openPostgresReader } from './reader.js';
import { openPostgresWriter } from './writer.js';

const PRODUCE_TIMEOUT_MS = 2_000;

let directory = '';
let server: EmbeddedPostgres;

/** A server for this file alone, because it is killed. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minutebook-test-'));
  server = await startEmbeddedPostgres({ directory, port: 0 });
  await migrateDatabase(server.url);
  await inSession((session) =>
    // The weakest setting, and no background writer that flushes the log early by chance.
    session.query(`ALTER SYSTEM SET synchronous_commit = off`),
  );
  await inSession((session) => session.query(`ALTER SYSTEM SET wal_writer_delay = '10s'`));
  await inSession((session) => session.query('SELECT pg_reload_conf()'));
});

afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

async function inSession(work: (session: pg.Client) => Promise<unknown>): Promise<void> {
  const session = new pg.Client({ connectionString: server.url });
  await session.connect();
  try {
    await work(session);
  } finally {
    await session.end();
  }
}

const outage: Outage = {
  kill: async () => {
    // Sessions live a moment longer than their postmaster and could still commit.
    signalAll(await postgresProcesses(server), 'SIGKILL');
    await server.exited;
  },
  restart: async () => {
    server = await startEmbeddedPostgres({ directory, port: Number(new URL(server.url).port) });
  },
};

const test = plain.extend<{ log: LogUnderTest; outage: Outage }>({
  // Vitest reads from the first parameter which other fixtures a fixture needs; these need none.
  log: async ({}, use) => {
    const recreate = (): Promise<void> =>
      inSession((session) =>
        session.query('TRUNCATE event_logs, event_log_partitions, event_log_batches'),
      );
    const at = { url: server.url, partitionCount: CONTRACT_PARTITIONS };
    await use({
      openWriter: () => openPostgresWriter({ ...at, produceTimeoutMs: PRODUCE_TIMEOUT_MS }),
      openReader: () => openPostgresReader({ ...at, retentionMs: 3_600_000 }),
      removeBelow: () => Promise.reject(new Error('not needed here')),
      recreate,
    });
    await recreate();
  },
  outage: async ({}, use) => use(outage),
});

describe('event log in PostgreSQL when the server is killed', () => {
  registerOutageContract(test, PRODUCE_TIMEOUT_MS);

  test('acknowledged records survive a crash of a server that defaults to asynchronous commits', async ({
    log,
  }) => {
    const writer = await log.openWriter();
    await writer.append([text('acknowledged')]);
    await outage.kill();
    await outage.restart();
    const reader = await log.openReader();
    expect(valuesOf(await readAll(reader, { count: 1 }))).toEqual(['acknowledged']);
    await Promise.all([writer.close(), reader.close()]);
  });

  test('an append waits for a server that restarts in time', async ({ log }) => {
    const writer = await openPostgresWriter({ url: server.url, produceTimeoutMs: 30_000 });
    await writer.append([text('before')]);
    await outage.kill();
    await expect(writer.append([text('finds the connection broken')]).catch(() => 0)).resolves.toBe(
      0,
    );
    const waiting = writer.append([text('patient')]);
    await outage.restart();
    await waiting;
    const reader = await log.openReader();
    expect(valuesOf(await readAll(reader, { count: 2 }))).toEqual(['before', 'patient']);
    await Promise.all([writer.close(), reader.close()]);
  });

  test('an append is rejected in time when the server hangs', async ({ log }) => {
    const writer = await log.openWriter();
    await writer.append([text('before')]);
    const processes = await postgresProcesses(server);
    signalAll(processes, 'SIGSTOP');
    const startedMs = Date.now();
    await expect(writer.append([text('stopped')])).rejects.toMatchObject({ isRetryable: true });
    expect(Date.now() - startedMs).toBeLessThan(PRODUCE_TIMEOUT_MS + 2_000);
    signalAll(processes, 'SIGCONT');
    await writer.append([text('after')]);
    await writer.close();
  });
});
