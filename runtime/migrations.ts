import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DependencyError } from './failure.js';
import { projectRoot } from './project.js';

/** One file of `sql/migrations` or `clickhouse/migrations`. */
export type Migration = {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the file, hexadecimal. */
  readonly checksum: string;
};

export type AppliedMigration = Pick<Migration, 'number' | 'name' | 'checksum'>;

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** A migration that cannot be applied; the message says what to do. */
export class MigrationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MigrationRefused';
  }
}

/**
 * The migrations of a folder, ordered by number.
 * @throws MigrationRefused for a file whose name is not like `0001_subject.sql`, or whose number is
 *   used twice.
 */
export function readMigrations(folder: string): readonly Migration[] {
  const migrations = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((name) => {
      const number = FILE_NAME.exec(name)?.[1];
      if (number === undefined) {
        throw new MigrationRefused(`${join(folder, name)} must have a name like 0001_subject.sql`);
      }
      const text = readFileSync(join(folder, name), 'utf8');
      const checksum = createHash('sha256').update(text).digest('hex');
      return { number: Number(number), name, text, checksum };
    });
  migrations.forEach((migration, index) => {
    if (migration.number === migrations[index - 1]?.number) {
      throw new MigrationRefused(`${join(folder, migration.name)}: its number is used twice`);
    }
  });
  return migrations;
}

/** The folder with the migrations of an engine. */
export function migrationsFolder(engine: 'sql' | 'clickhouse'): string {
  return join(projectRoot, engine, 'migrations');
}

/**
 * The migrations that remain to be applied, in order. Applied migrations that this release does not
 * know are ignored, because an older release may start beside a newer one during a rolling update.
 * @throws MigrationRefused when a file differs from the one that was applied under its number.
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const byNumber = new Map(applied.map((migration) => [migration.number, migration]));
  for (const migration of migrations) {
    const before = byNumber.get(migration.number);
    if (before === undefined || before.checksum === migration.checksum) continue;
    throw new MigrationRefused(
      `migration ${migration.name} was changed after it was applied (then ${before.name}, ` +
        `sha256 ${before.checksum.slice(0, 12)}; now ${migration.checksum.slice(0, 12)}). ` +
        'Restore the file and write the change as a new migration. A database without valuable ' +
        'data can be deleted and created again.',
    );
  }
  return migrations.filter((migration) => !byNumber.has(migration.number));
}

const NAMES = { sql: 'PostgreSQL', clickhouse: 'ClickHouse' } as const;
const DEPENDENCIES = { sql: 'postgres', clickhouse: 'clickhouse' } as const;

/** What an engine lacks that a program needs; the message names the remedy. */
export function unprepared(
  engine: 'sql' | 'clickhouse',
  problem: string,
  cause?: unknown,
): DependencyError {
  return new DependencyError(`${NAMES[engine]} ${problem}: run \`minutebook migrate\``, {
    dependency: DEPENDENCIES[engine],
    isRetryable: false,
    cause,
  });
}

/** Read once, since readiness asks for them every second. */
const ofRelease = new Map<string, readonly Migration[]>();

/**
 * Returns when every migration of this release is among the applied ones; there may be later ones.
 * @throws DependencyError that names the remedy otherwise; MigrationRefused as `pendingMigrations`.
 */
export function assertApplied(
  engine: 'sql' | 'clickhouse',
  applied: readonly AppliedMigration[],
): void {
  const migrations = ofRelease.get(engine) ?? readMigrations(migrationsFolder(engine));
  ofRelease.set(engine, migrations);
  const [first, ...others] = pendingMigrations(migrations, applied);
  if (first === undefined) return;
  const names = others.length === 0 ? first.name : `${first.name} and ${others.length} more`;
  throw unprepared(engine, `lacks ${names} of this release`);
}
