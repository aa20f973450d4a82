import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { startEmbeddedClickHouse } from '../../clickhouse/embedded.js';
import { migrateClickHouse } from '../../clickhouse/migrate.js';
import { startEmbeddedPostgres } from '../../sql/embedded.js';
import { migrateDatabase } from '../../sql/migrate.js';
import { createDatabase, type Database } from '../../sql/pool.js';
import { startProgram, type StartedProgram } from './start-program.js';

const START_TIMEOUT_MS = 600_000;
const POLL_MS = 20;

/** Migrated engines that one test or measurement has for itself, and their clients. */
export type AggregatorWorld = {
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  /** Killed when the work ends or fails, if they still run. */
  readonly aggregators: ChildProcess[];
};

/** Runs `work` with fresh embedded engines, and removes them afterwards. */
export async function withAggregatorWorld<T>(
  work: (world: AggregatorWorld) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-measure-'));
  const postgres = await startEmbeddedPostgres({ directory: join(directory, 'pg'), port: 0 });
  const server = await startEmbeddedClickHouse({
    directory: join(directory, 'clickhouse'),
    port: 0,
  });
  await Promise.all([migrateDatabase(postgres.url), migrateClickHouse(server.url, null)]);
  const database = await createDatabase(postgres.url, { poolSize: 4 });
  const clickhouse = createClickHouse(server.url);
  const urls = { databaseUrl: postgres.url, clickhouseUrl: server.url };
  const aggregators: ChildProcess[] = [];
  try {
    return await work({ ...urls, database, clickhouse, aggregators });
  } finally {
    for (const child of aggregators) child.kill('SIGKILL');
    await Promise.all([database.close(), clickhouse.close()]);
    await postgres.stop();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Starts an aggregator; it reads and counts as soon as it owns partitions. */
export async function startAggregatorProcess(
  world: AggregatorWorld,
  settings: Readonly<Record<string, string>> = {},
): Promise<StartedProgram> {
  const program = await startProgram('aggregator', {
    DATABASE_URL: world.databaseUrl,
    CLICKHOUSE_URL: world.clickhouseUrl,
    MINUTEBOOK_LOG_LEVEL: 'warn',
    ...settings,
  });
  world.aggregators.push(program.child);
  return program;
}

/** Polls until `ask` gives an answer that is not null. @throws Error after ten minutes. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | null>,
  pollMs = POLL_MS,
): Promise<T> {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadlineMs) {
    const answer = await ask().catch(() => null);
    if (answer !== null) return answer;
    await delay(pollMs);
  }
  throw new Error(`gave up waiting for ${what}`);
}
