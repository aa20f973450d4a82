import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Migration } from '../migrations.js';
import { tablesAfter, type MigrationExpectations, type StoredTables } from './expected-tables.js';

/** A store of a test's own, empty at first. */
export type StoreUnderMigration = {
  /** Applies the files of a folder that it lacks. */
  migrate(folder: string): Promise<readonly string[]>;
  /** Runs the statements of a text. */
  fill(text: string): Promise<void>;
  read(): Promise<StoredTables>;
};

/** A release whose data later migrations must carry over. */
export type Release = {
  /** Number of its last migration. */
  readonly lastMigration: number;
  /** Statements that fill every table as the release does. */
  readonly data: string;
};

type Plan = {
  readonly release: Release;
  readonly migrations: readonly Migration[];
  readonly expectations: MigrationExpectations;
  /** An empty directory. */
  readonly directory: string;
};

/** One migration after the release: the rows that it left, and those that it had to leave. */
export type MigrationStep = {
  readonly name: string;
  readonly found: StoredTables;
  readonly expected: StoredTables;
};

async function addFiles(directory: string, migrations: readonly Migration[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const { name, text } of migrations) await writeFile(join(directory, name), text);
}

/** Brings an empty store to a release and fills it. */
export async function fillRelease(
  store: StoreUnderMigration,
  { release, migrations, directory }: Omit<Plan, 'expectations'>,
): Promise<StoredTables> {
  const ofRelease = migrations.filter(({ number }) => number <= release.lastMigration);
  await addFiles(directory, ofRelease);
  await store.migrate(directory);
  await store.fill(release.data);
  return store.read();
}

/** Fills a store as a release does, then applies every later migration by itself. */
export async function migrateWithData(
  store: StoreUnderMigration,
  plan: Plan,
): Promise<readonly MigrationStep[]> {
  let before = await fillRelease(store, plan);
  const steps: MigrationStep[] = [];
  const later = plan.migrations.filter(({ number }) => number > plan.release.lastMigration);
  for (const migration of later) {
    const { name } = migration;
    await addFiles(plan.directory, [migration]);
    await store.migrate(plan.directory);
    const found = await store.read();
    const expected = tablesAfter(before, Object.keys(found), plan.expectations[name]);
    steps.push({ name, found, expected });
    before = found;
  }
  return steps;
}
