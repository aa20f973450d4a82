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
import { withAdvisoryLock } from './session.js';

const LOCK = 'minutebook:migrate-postgres';

const appliedRows = z.array(
  z.object({ number: z.number().int(), name: z.string(), checksum: z.string() }),
);

async function readApplied(session: Client): Promise<z.infer<typeof appliedRows>> {
  await session.query(`
    CREATE TABLE IF NOT EXISTS schema_migrations (
      number integer PRIMARY KEY,
      name text NOT NULL,
      checksum text NOT NULL,
      applied_at timestamptz(3) NOT NULL DEFAULT now()
    )`);
  const result = await session.query('SELECT number, name, checksum FROM schema_migrations');
  return appliedRows.parse(result.rows);
}

async function apply(session: Client, migration: Migration): Promise<void> {
  await session.query('BEGIN');
  try {
    await session.query(migration.text);
    await session.query(
      'INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)',
      [migration.number, migration.name, migration.checksum],
    );
    await session.query('COMMIT');
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    throw Object.assign(
      new MigrationRefused(`migration ${migration.name} failed: ${messageOf(error)}`),
      { cause: error },
    );
  }
}

/**
 * Brings the schema of a database up to date: applies the missing files of `sql/migrations` in
 * order, each in one transaction. Only one process does so at a time; others wait and then find
 * nothing to do.
 * @returns the names of the files that were applied now.
 * @throws MigrationRefused when an applied file was changed, or when a file fails, in which case
 *   nothing of it is applied.
 * @throws DependencyError when PostgreSQL cannot be reached.
 */
export function migrateDatabase(
  url: string,
  folder: string = migrationsFolder('sql'),
): Promise<readonly string[]> {
  const migrations = readMigrations(folder);
  return withAdvisoryLock(url, LOCK, async (session) => {
    const pending = pendingMigrations(migrations, await readApplied(session));
    for (const migration of pending) await apply(session, migration);
    return pending.map((migration) => migration.name);
  });
}
