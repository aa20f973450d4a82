import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { z } from 'zod';
import { codeOf, messageOf } from '../runtime/failure.js';
import {
  MigrationRefused,
  migrationsFolder,
  pendingMigrations,
  readMigrations,
  type Migration,
} from '../runtime/migrations.js';
import { holdingLock, PATIENT, withSession, type SessionOptions } from './session.js';

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

/**
 * What a program asks of a table queues behind a migration that waits for a lock on it, so that a
 * migration never waits long: it gives up, lets the others pass, and tries again.
 */
const LOCK_TIMEOUT_MS = 1_000;
const LOCK_PAUSE_MS = 1_000;
/** Longer than any statement of a program may take; a backup may take longer. */
const LOCK_TRIES_MAX = 60;
/** SQLSTATEs of a lock that was not had in time, and of a deadlock. */
const NO_LOCK = ['55P03', '40P01'];

/** @returns whether it was applied: false when a lock could not be had in time. */
async function tryToApply(session: Client, migration: Migration): Promise<boolean> {
  await session.query('BEGIN');
  try {
    await session.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await session.query(migration.text);
    await session.query(
      'INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)',
      [migration.number, migration.name, migration.checksum],
    );
    await session.query('COMMIT');
    return true;
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    if (NO_LOCK.includes(codeOf(error) ?? '')) return false;
    throw Object.assign(
      new MigrationRefused(`migration ${migration.name} failed: ${messageOf(error)}`),
      { cause: error },
    );
  }
}

async function apply(session: Client, migration: Migration): Promise<void> {
  for (let tries = 1; !(await tryToApply(session, migration)); tries += 1) {
    if (tries === LOCK_TRIES_MAX) {
      throw new MigrationRefused(
        `migration ${migration.name} was not applied, because another session holds a table that it ` +
          'changes: wait for the end of a backup or another long transaction, and run the ' +
          'command again',
      );
    }
    await delay(LOCK_PAUSE_MS);
  }
}

/**
 * Brings the schema of a database up to date: applies the missing files of `sql/migrations` in
 * order, each in one transaction. Only one process does so at a time; others wait and then find
 * nothing to do.
 * @returns the names of the files that were applied now.
 * @throws MigrationRefused when an applied file was changed, or when a file fails or cannot have a
 *   lock within two minutes, in which case nothing of it is applied.
 * @throws DependencyError when PostgreSQL cannot be reached.
 */
export function migrateDatabase(
  url: string,
  folder: string = migrationsFolder('sql'),
  options: SessionOptions = {},
): Promise<readonly string[]> {
  const migrations = readMigrations(folder);
  const migrate = async (session: Client): Promise<readonly string[]> => {
    const pending = pendingMigrations(migrations, await readApplied(session));
    for (const migration of pending) await apply(session, migration);
    return pending.map((migration) => migration.name);
  };
  return withSession(url, holdingLock(LOCK, migrate), { ...PATIENT, ...options });
}
