import { join } from 'node:path';
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
import { releaseVersion } from '../runtime/project.js';
import { pendingFunctions, readFunctions, type SchemaFunction } from './functions.js';
import { holdingLock, PATIENT, withSession, type SessionOptions } from './session.js';

const LOCK = 'minutebook:migrate-postgres';

const appliedRows = z.array(
  z.object({ number: z.number().int(), name: z.string(), checksum: z.string() }),
);

const notedRows = z.array(
  z.object({ name: z.string(), checksum: z.string(), release: z.string() }),
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

/** What is applied in one transaction, with its note. */
type Step = { readonly what: string; readonly apply: (session: Client) => Promise<void> };

/** @returns whether it was applied: false when a lock could not be had in time. */
async function tryToApply(session: Client, { what, apply }: Step): Promise<boolean> {
  await session.query('BEGIN');
  try {
    await session.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await apply(session);
    await session.query('COMMIT');
    return true;
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    if (NO_LOCK.includes(codeOf(error) ?? '')) return false;
    throw Object.assign(new MigrationRefused(`${what} failed: ${messageOf(error)}`), {
      cause: error,
    });
  }
}

async function applyStep(session: Client, step: Step): Promise<void> {
  for (let tries = 1; !(await tryToApply(session, step)); tries += 1) {
    if (tries === LOCK_TRIES_MAX) {
      throw new MigrationRefused(
        `${step.what} was not applied, because another session holds a table that it ` +
          'changes: wait for the end of a backup or another long transaction, and run the ' +
          'command again',
      );
    }
    await delay(LOCK_PAUSE_MS);
  }
}

const stepOf = ({ number, name, text, checksum }: Migration): Step => ({
  what: `migration ${name}`,
  apply: async (session) => {
    await session.query(text);
    await session.query(
      'INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)',
      [number, name, checksum],
    );
  },
});

async function applyFunction(session: Client, one: SchemaFunction): Promise<void> {
  const { name, text, checksum } = one;
  await session.query(text).catch((error: unknown) => {
    throw Object.assign(new Error(`${name}.sql: ${messageOf(error)}`, { cause: error }), {
      code: codeOf(error),
    });
  });
  await session.query(
    `INSERT INTO schema_functions (name, checksum, release) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET checksum = $2, release = $3, applied_at = now()`,
    [name, checksum, releaseVersion()],
  );
}

/** Applies what has changed of the functions, all in one transaction. */
async function applyFunctions(
  session: Client,
  functions: readonly SchemaFunction[],
): Promise<void> {
  if (functions.length === 0) return;
  const noted = await session.query('SELECT name, checksum, release FROM schema_functions');
  const pending = pendingFunctions(functions, notedRows.parse(noted.rows));
  if (pending.length === 0) return;
  const apply = async (): Promise<void> => {
    for (const one of pending) await applyFunction(session, one);
  };
  await applyStep(session, { what: 'the change of functions', apply });
}

/**
 * Brings the schema of a database up to date: applies the missing files of `sql/migrations` in
 * order, each in one transaction, and then what has changed of the folder `functions` beside them.
 * Only one process does so at a time; others wait and then find nothing to do.
 * @returns the names of the migrations that were applied now.
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
  const functions = readFunctions(join(folder, '..', 'functions'));
  const migrate = async (session: Client): Promise<readonly string[]> => {
    const pending = pendingMigrations(migrations, await readApplied(session));
    for (const migration of pending) await applyStep(session, stepOf(migration));
    await applyFunctions(session, functions);
    return pending.map((migration) => migration.name);
  };
  return withSession(url, holdingLock(LOCK, migrate), { ...PATIENT, ...options });
}
