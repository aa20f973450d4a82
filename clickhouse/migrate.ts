import type { Client } from 'pg';
import { z } from 'zod';
import { messageOf } from '../runtime/failure.js';
import {
  MigrationRefused,
  migrationsFolder,
  pendingMigrations,
  readMigrations,
  type Migration,
} from '../runtime/migrations.js';
import { withAdvisoryLock } from '../sql/session.js';
import { createClickHouse, type ClickHouse } from './client.js';
import { clickHouseOutage } from './clickhouse-failure.js';
import { copiesRows, withoutOwners } from './guard-copies.js';

const LOCK = 'minutebook:migrate-clickhouse:';
/** A day: a statement of a migration may copy a whole table. */
const STATEMENT_TIMEOUT_MS = 86_400_000;

export const appliedMigration = z.object({
  number: z.number().int(),
  name: z.string(),
  checksum: z.string(),
});

/** Matches a semicolon, or a string, quoted name or comment, in which a semicolon means nothing. */
const TOKENS = /'(?:[^'\\]|\\.|'')*'|`[^`]*`|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\/|;/g;

/** The statements of a file; a statement ends at a semicolon outside strings and comments. */
export function splitStatements(text: string): readonly string[] {
  const statements: string[] = [];
  let start = 0;
  for (const match of text.matchAll(TOKENS)) {
    if (match[0] !== ';') continue;
    statements.push(text.slice(start, match.index).trim());
    start = match.index + 1;
  }
  const rest = text.slice(start);
  const hasRest = rest.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() !== '';
  if (hasRest) statements.push(rest.trim());
  return statements;
}

/** The server without a database, and the name of the database in the path (`default` if none). */
function splitUrl(url: string): { readonly server: string; readonly database: string } {
  const address = new URL(url);
  const database = decodeURIComponent(address.pathname.replace(/^\//, ''));
  address.pathname = '';
  return { server: address.href, database: database === '' ? 'default' : database };
}

async function createMissingDatabase(url: string): Promise<void> {
  const { server, database } = splitUrl(url);
  if (database === 'default') return;
  const clickhouse = createClickHouse(server);
  try {
    await clickhouse.command('CREATE DATABASE IF NOT EXISTS {database:Identifier}', { database });
  } finally {
    await clickhouse.close();
  }
}

export const APPLIED_MIGRATIONS = 'SELECT number, name, checksum FROM schema_migrations';

async function readApplied(clickhouse: ClickHouse): Promise<z.infer<typeof appliedMigration>[]> {
  await clickhouse.command(`
    CREATE TABLE IF NOT EXISTS schema_migrations
    (
      number UInt32,
      name String,
      checksum String,
      applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
    )
    ENGINE = MergeTree
    ORDER BY number
    SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`);
  return clickhouse.query(APPLIED_MIGRATIONS, {}, appliedMigration);
}

async function runStatements(
  clickhouse: ClickHouse,
  statements: readonly string[],
  migration: Migration,
): Promise<void> {
  for (const statement of statements) {
    try {
      await clickhouse.command(statement);
    } catch (error) {
      const outage = clickHouseOutage(error);
      if (outage.isRetryable) throw outage;
      throw new MigrationRefused(`migration ${migration.name} failed: ${messageOf(error)}`);
    }
  }
}

type Engines = { readonly clickhouse: ClickHouse; readonly session: Client | null };

async function apply(engines: Engines, migration: Migration): Promise<void> {
  const { clickhouse } = engines;
  const statements = splitStatements(migration.text);
  const run = (): Promise<void> => runStatements(clickhouse, statements, migration);
  await (copiesRows(statements)
    ? withoutOwners(engines, `migration ${migration.name}`, run)
    : run());
  await clickhouse.command(
    `INSERT INTO schema_migrations (number, name, checksum)
     SELECT {number:UInt32}, {name:String}, {checksum:String}`,
    { number: migration.number, name: migration.name, checksum: migration.checksum },
  );
}

async function applyPending(
  url: string,
  migrations: readonly Migration[],
  session: Client | null,
): Promise<readonly string[]> {
  await createMissingDatabase(url);
  const clickhouse = createClickHouse(url, { requestTimeoutMs: STATEMENT_TIMEOUT_MS });
  try {
    const pending = pendingMigrations(migrations, await readApplied(clickhouse));
    for (const migration of pending) await apply({ clickhouse, session }, migration);
    return pending.map((migration) => migration.name);
  } finally {
    await clickhouse.close();
  }
}

/**
 * Creates the database named in the path of the URL, if it is missing, and applies the files of
 * `clickhouse/migrations` that it lacks, in order. ClickHouse has no transactions for DDL: a file
 * that was cut short runs again from its start, so each statement must be repeatable on what the
 * file itself has done so far (`IF NOT EXISTS`). Processes take turns by an advisory lock in the
 * PostgreSQL of `databaseUrl`; without one the caller must be the only one. A file that copies rows
 * is refused while aggregators live, and keeps them out until it has ended (guard-copies.ts).
 * @returns names of the files applied now.
 * @throws MigrationRefused when an applied file was changed, a statement is refused, or aggregators
 *   run that a file does not allow.
 * @throws DependencyError when an engine cannot be reached.
 */
export function migrateClickHouse(
  url: string,
  databaseUrl: string | null,
  folder: string = migrationsFolder('clickhouse'),
): Promise<readonly string[]> {
  const migrations = readMigrations(folder);
  if (databaseUrl === null) return applyPending(url, migrations, null);
  const lock = `${LOCK}${splitUrl(url).database}`;
  return withAdvisoryLock(databaseUrl, lock, (session) => applyPending(url, migrations, session));
}
