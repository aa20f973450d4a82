import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../../clickhouse/embedded.js';
import { migrateClickHouse } from '../../clickhouse/migrate.js';
import type { Lifecycle } from '../../runtime/lifecycle.js';
import type { Log } from '../../runtime/log.js';
import { startEmbeddedPostgres } from '../../sql/embedded.js';
import { migrateDatabase } from '../../sql/migrate.js';
import { programsUrl, type DatabaseLogins } from './database-logins.js';
import type { StackConfig } from './stack-config.js';
import { supervise, type Running, type Supervised } from './supervise.js';

export type Engines = {
  /** As the programs log in. */
  readonly databaseUrl: string;
  /** As the owner of the schema logs in: for migrations, the first key and an operator's verbs. */
  readonly ownerDatabaseUrl: string;
  /** As the aggregator and the jobs log in. */
  readonly clickhouseUrl: string;
  /** As requests are answered: it reads rows of one environment. */
  readonly readerClickhouseUrl: string;
  /** The embedded ClickHouse; null when `CLICKHOUSE_URL` names a server. */
  readonly clickhouse: Supervised | null;
};

type Engine = Running & { readonly url: string; readonly readerUrl?: string };
type Embedded = {
  readonly url: string;
  readonly readerUrl: string | undefined;
  readonly supervised: Supervised;
};

/** Starts an engine and keeps it running at its first port, so that its address does not change. */
async function superviseEngine(
  name: string,
  start: (port: number) => Promise<Engine>,
  logger: Log,
): Promise<Embedded> {
  let url = '';
  let readerUrl: string | undefined;
  const supervised = await supervise(
    name,
    async () => {
      const engine = await start(url === '' ? 0 : Number(new URL(url).port));
      ({ url, readerUrl } = engine);
      return engine;
    },
    { logger },
  );
  return { url, readerUrl, supervised };
}

/** The users of the embedded server, or of the given one. */
function clickHouseUrls(
  config: StackConfig,
  embedded: Embedded | null,
): { readonly clickhouseUrl: string; readonly readerClickhouseUrl: string } {
  const clickhouseUrl = embedded?.url ?? config.CLICKHOUSE_URL ?? '';
  const reader = embedded?.readerUrl ?? config.MINUTEBOOK_READER_CLICKHOUSE_URL;
  return { clickhouseUrl, readerClickhouseUrl: reader ?? clickhouseUrl };
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
  const startPostgres = async (): Promise<DatabaseLogins> => {
    if (config.DATABASE_URL !== undefined) {
      const { DATABASE_URL: programs, MINUTEBOOK_OWNER_DATABASE_URL: owner } = config;
      return { owner: owner ?? programs, programs };
    }
    const start = (port: number): Promise<Engine> =>
      startEmbeddedPostgres({ directory: directory('postgres'), port });
    const { url, supervised } = await superviseEngine('postgres', start, logger);
    lifecycle.onClose('embedded postgres', () => supervised.stop());
    return { owner: url, programs: null };
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
  const { owner: ownerDatabaseUrl } = postgres.value;
  const { clickhouseUrl, readerClickhouseUrl } = clickHouseUrls(config, clickhouse.value);
  await migrateDatabase(ownerDatabaseUrl);
  const databaseUrl = await programsUrl(postgres.value, directory('postgres'));
  await migrateClickHouse(clickhouseUrl, ownerDatabaseUrl);
  const urls = { databaseUrl, ownerDatabaseUrl, clickhouseUrl, readerClickhouseUrl };
  return { ...urls, clickhouse: clickhouse.value?.supervised ?? null };
}
