import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../clickhouse/embedded.js';
import { migrateClickHouse } from '../clickhouse/migrate.js';
import type { Lifecycle } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import { startEmbeddedPostgres } from '../sql/embedded.js';
import { migrateDatabase } from '../sql/migrate.js';
import { admitProgramsLogin, ensureProgramsLogin, withLogin } from '../sql/programs-role.js';
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

/** The programs' login of the embedded PostgreSQL. */
const PROGRAMS_LOGIN = 'minutebook_login';

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
    logger,
  );
  return { url, readerUrl, supervised };
}

/** The URLs of the owner and of the programs; null where we make the programs' login ourselves. */
type DatabaseLogins = {
  readonly owner: string;
  readonly programs: string | null;
};

/**
 * The URL with which the programs log in: on a server of your own the given one, which is admitted
 * to the role of the programs; on the embedded one a login that we make, with a password beside it.
 */
async function programsUrl(logins: DatabaseLogins, directory: string): Promise<string> {
  if (logins.programs !== null) {
    await admitProgramsLogin(logins.owner, decodeURIComponent(new URL(logins.programs).username));
    return logins.programs;
  }
  const login = {
    user: PROGRAMS_LOGIN,
    password: await readPassword(directory),
  };
  await ensureProgramsLogin(logins.owner, login);
  return withLogin(logins.owner, login);
}

/** The password of the programs' login: random, made at the first start (mode 0600). */
async function readPassword(directory: string): Promise<string> {
  const path = join(directory, 'programs-password');
  if (!existsSync(path)) {
    await writeFile(path, randomBytes(24).toString('hex'), { mode: 0o600 });
  }
  return (await readFile(path, 'utf8')).trim();
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
  const clickhouseUrl = clickhouse.value?.url ?? config.CLICKHOUSE_URL ?? '';
  await migrateDatabase(ownerDatabaseUrl);
  const databaseUrl = await programsUrl(postgres.value, directory('postgres'));
  await migrateClickHouse(clickhouseUrl, ownerDatabaseUrl);
  const reader = clickhouse.value?.readerUrl ?? config.MINUTEBOOK_READER_CLICKHOUSE_URL;
  const readerClickhouseUrl = reader ?? clickhouseUrl;
  const urls = { databaseUrl, ownerDatabaseUrl, clickhouseUrl, readerClickhouseUrl };
  return { ...urls, clickhouse: clickhouse.value?.supervised ?? null };
}
