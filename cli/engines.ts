import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../clickhouse/embedded.js';
import { migrateClickHouse } from '../clickhouse/migrate.js';
import type { Lifecycle } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import { startEmbeddedPostgres } from '../sql/embedded.js';
import { migrateDatabase } from '../sql/migrate.js';
import type { StackConfig } from './stack-config.js';
import { supervise, type Running, type Supervised } from './supervise.js';

export type Engines = {
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  /** The embedded ClickHouse; null when `CLICKHOUSE_URL` names a server. */
  readonly clickhouse: Supervised | null;
};

type Engine = Running & { readonly url: string };
type Embedded = { readonly url: string; readonly supervised: Supervised };

/** Starts an engine and keeps it running at its first port, so that its address does not change. */
async function superviseEngine(
  name: string,
  start: (port: number) => Promise<Engine>,
  logger: Log,
): Promise<Embedded> {
  let url = '';
  const supervised = await supervise(
    name,
    async () => {
      const engine = await start(url === '' ? 0 : Number(new URL(url).port));
      url = engine.url;
      return engine;
    },
    logger,
  );
  return { url, supervised };
}

/**
 * Starts and migrates the two databases. They are embedded, with their files in the data directory,
 * unless a setting names a server.
 * @throws DependencyError that says what to do when a port or directory is in use, or a server
 *   cannot be reached.
 */
export async function startEngines(
  config: StackConfig,
  logger: Log,
  lifecycle: Lifecycle,
): Promise<Engines> {
  const directory = (name: string): string => join(config.MINUTEBOOK_DATA_DIR, name);
  const startPostgres = async (): Promise<string> => {
    if (config.DATABASE_URL !== undefined) return config.DATABASE_URL;
    const start = (port: number): Promise<Engine> =>
      startEmbeddedPostgres({ directory: directory('postgres'), port });
    const { url, supervised } = await superviseEngine('postgres', start, logger);
    lifecycle.onClose('embedded postgres', () => supervised.stop());
    return url;
  };
  const startClickHouse = async (): Promise<Embedded | null> => {
    if (config.CLICKHOUSE_URL !== undefined) return null;
    const start = (port: number): Promise<Engine> =>
      startEmbeddedClickHouse({ directory: directory('clickhouse'), port });
    const embedded = await superviseEngine('clickhouse', start, logger);
    lifecycle.onClose('embedded clickhouse', () => embedded.supervised.stop());
    return embedded;
  };
  // Things are closed in the opposite order of their registration, so both engines must be
  // registered before anything that uses them.
  const [postgres, clickhouse] = await Promise.allSettled([startPostgres(), startClickHouse()]);
  if (postgres.status === 'rejected') throw postgres.reason;
  if (clickhouse.status === 'rejected') throw clickhouse.reason;
  const databaseUrl = postgres.value;
  const clickhouseUrl = clickhouse.value?.url ?? config.CLICKHOUSE_URL ?? '';
  await migrateDatabase(databaseUrl);
  await migrateClickHouse(clickhouseUrl, databaseUrl);
  return { databaseUrl, clickhouseUrl, clickhouse: clickhouse.value?.supervised ?? null };
}
