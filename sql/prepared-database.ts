import { z } from 'zod';
import { codeOf } from '../runtime/failure.js';
import { assertApplied, unprepared } from '../runtime/migrations.js';
import {
  FUNCTIONS_FOLDER,
  pendingFunctions,
  readFunctions,
  type SchemaFunction,
} from './functions.js';
import { chainOf } from './outage.js';
import { createDatabase, type Database } from './pool.js';
import { statement } from './statement.js';

const listMigrations = statement(
  'list-migrations',
  z.object({ number: z.number(), name: z.string(), checksum: z.string() }),
);

const listFunctions = statement(
  'list-functions',
  z.object({ name: z.string(), checksum: z.string(), release: z.string() }),
);

/** Read once, since readiness asks for them every second. */
let ofRelease: readonly SchemaFunction[] | null = null;

/**
 * SQLSTATEs of a database that lacks our tables, the right to see them, or the role of the
 * programs.
 */
const NO_TABLE = '42P01';
const NO_RIGHT = '42501';
const NO_ROLE = '22023';

function hasCode(error: unknown, code: string): boolean {
  return chainOf(error).some((link) => codeOf(link) === code);
}

const NO_TABLES = 'has no tables of Minutebook yet';

/** @throws DependencyError when a function is not that of this release or of a later one. */
async function assertFunctions({ slonik }: Pick<Database, 'slonik'>): Promise<void> {
  ofRelease ??= readFunctions(FUNCTIONS_FOLDER);
  const [first] = pendingFunctions(ofRelease, await slonik.any(listFunctions()));
  if (first !== undefined) throw unprepared('sql', `lacks ${first.name}() of this release`);
}

/**
 * Resolves when every migration and function of this release is applied; later ones may be, too.
 * @throws DependencyError that names the remedy otherwise, or when PostgreSQL fails;
 *   MigrationRefused when a file differs from the one that was applied.
 */
export async function assertMigrated(database: Pick<Database, 'slonik'>): Promise<void> {
  const { slonik } = database;
  const applied = await slonik.any(listMigrations()).catch((error: unknown) => {
    if (hasCode(error, NO_TABLE)) throw unprepared('sql', NO_TABLES, error);
    if (hasCode(error, NO_RIGHT))
      throw unprepared('sql', 'has tables of an earlier release', error);
    throw error;
  });
  assertApplied('sql', applied);
  await assertFunctions(database);
}

/**
 * As `createDatabase`, for a program: the database must have the tables of this release.
 * @throws DependencyError that names the remedy otherwise.
 */
export async function openPreparedDatabase(
  url: string,
  options: { readonly poolSize: number },
): Promise<Database> {
  const database = await createDatabase(url, options).catch((error: unknown) => {
    throw hasCode(error, NO_ROLE) ? unprepared('sql', NO_TABLES, error) : error;
  });
  try {
    await assertMigrated(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
