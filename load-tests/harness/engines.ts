import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../../clickhouse/embedded.js';
import { migrationsFolder, readMigrations } from '../../runtime/migrations.js';
import { startEmbeddedPostgres } from '../../sql/embedded.js';
import { FUNCTIONS_FOLDER, readFunctions } from '../../sql/functions.js';
import { migrateDatabase } from '../../sql/migrate.js';
import { withAdvisoryLock } from '../../sql/session.js';
import { makeTestDirectory } from './test-directory.js';

/** A server that a test run has at its disposal. */
export type Server = { readonly url: string; stop(): Promise<void> };
export type Servers = { readonly postgres: Server; readonly clickhouse: Server };

/** The engines of one test run. */
export type Engines = {
  /** A database of the PostgreSQL server; fixtures make their own beside it. */
  readonly databaseUrl: string;
  /** A migrated database that fixtures clone. */
  readonly templateName: string;
  /** The ClickHouse server; fixtures put their own database in the path. */
  readonly clickhouseUrl: string;
  stop(): Promise<void>;
};

const given = (url: string): Server => ({ url, stop: () => Promise.resolve() });

async function startEmbedded(needed: { postgres: boolean; clickhouse: boolean }): Promise<{
  postgres: Server | null;
  clickhouse: Server | null;
}> {
  const { path: directory, remove } = await makeTestDirectory();
  const [postgres, clickhouse] = await Promise.all([
    needed.postgres ? startEmbeddedPostgres({ directory: join(directory, 'pg'), port: 0 }) : null,
    needed.clickhouse
      ? startEmbeddedClickHouse({ directory: join(directory, 'clickhouse'), port: 0 })
      : null,
  ]);
  const owner = clickhouse ?? postgres;
  const stopping = (server: Server | null): Server | null =>
    server && {
      url: server.url,
      stop: async () => {
        await server.stop();
        if (server === owner) await remove();
      },
    };
  return { postgres: stopping(postgres), clickhouse: stopping(clickhouse) };
}

/** Given by address, in containers when asked for, otherwise embedded. */
async function startServers(): Promise<Servers> {
  const databaseUrl = process.env['TEST_DATABASE_URL'];
  const clickhouseUrl = process.env['TEST_CLICKHOUSE_URL'];
  if (process.env['TEST_CONTAINERS'] === '1') {
    // Loading the library takes a second, in every worker.
    const { startContainers } = await import('./containers.js');
    const containers = await startContainers();
    if (containers !== null) return containers;
  }
  const embedded = await startEmbedded({
    postgres: databaseUrl === undefined,
    clickhouse: clickhouseUrl === undefined,
  });
  return {
    postgres: embedded.postgres ?? given(databaseUrl ?? ''),
    clickhouse: embedded.clickhouse ?? given(clickhouseUrl ?? ''),
  };
}

/** The address with another database in its path. */
export function withDatabase(url: string, database: string): string {
  const address = new URL(url);
  address.pathname = `/${database}`;
  return address.href;
}

/**
 * Creates a migrated database once and names it after its migrations, so that runs with different
 * migrations can share a server.
 */
async function prepareTemplate(databaseUrl: string): Promise<string> {
  const files = [...readMigrations(migrationsFolder('sql')), ...readFunctions(FUNCTIONS_FOLDER)];
  const checksums = files.map((file) => file.checksum);
  const digest = createHash('sha256').update(checksums.join()).digest('hex').slice(0, 12);
  const name = `minutebook_template_${digest}`;
  await withAdvisoryLock(databaseUrl, 'minutebook:test-template', async (session) => {
    const found = await session.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) await session.query(`CREATE DATABASE ${name}`);
    await migrateDatabase(withDatabase(databaseUrl, name));
  });
  return name;
}

async function start(): Promise<Engines> {
  const { postgres, clickhouse } = await startServers();
  const stop = async (): Promise<void> => {
    // PostgreSQL first: the owner of the shared directory is stopped last.
    await postgres.stop();
    await clickhouse.stop();
  };
  try {
    const templateName = await prepareTemplate(postgres.url);
    return { databaseUrl: postgres.url, templateName, clickhouseUrl: clickhouse.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Shared = { readonly engines: Promise<Engines>; users: number };

/**
 * Kept on `globalThis` and not in this module, because vitest loads the module once per project and
 * all projects share the engines.
 */
const holder: typeof globalThis & { minutebookTestEngines?: Shared | undefined } = globalThis;

/** Starts the engines for the first user; the others share them. */
export function acquireEngines(): Promise<Engines> {
  holder.minutebookTestEngines ??= { engines: start(), users: 0 };
  holder.minutebookTestEngines.users += 1;
  return holder.minutebookTestEngines.engines;
}

/** Stops them after the last user. */
export async function releaseEngines(): Promise<void> {
  const shared = holder.minutebookTestEngines;
  if (shared === undefined) return;
  shared.users -= 1;
  if (shared.users > 0) return;
  holder.minutebookTestEngines = undefined;
  await (await shared.engines).stop();
}
