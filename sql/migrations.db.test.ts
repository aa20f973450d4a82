import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { test } from '../load-tests/harness/fixtures.js';
import { assertPresent } from '../runtime/failure.js';
import { migrationsFolder, readMigrations, type Migration } from '../runtime/migrations.js';
import { emptyParts, type MigrationExpectations } from '../runtime/testing/expected-tables.js';
import {
  fillRelease,
  migrateWithData,
  type MigrationStep,
  type Release,
  type StoreUnderMigration,
} from '../runtime/testing/migrate-with-data.js';
import { migrateDatabase } from './migrate.js';
import { withSession } from './session.js';
import { SQL_MIGRATION_EXPECTATIONS } from './testing/migration-expectations.js';
import { readDatabaseTables } from './testing/stored-tables.js';

const PRODUCT = readMigrations(migrationsFolder('sql'));
const readData = (name: string): string =>
  readFileSync(new URL(`testing/${name}.sql`, import.meta.url), 'utf8');
const RELEASE_1: Release = { lastMigration: 5, data: readData('release-1') };
const UNTIL_RELEASE_1 = PRODUCT.filter(({ number }) => number <= RELEASE_1.lastMigration);
/** A release that adds migrations adds its data here. */
const RELEASES: readonly (readonly [string, Release])[] = [['release 1', RELEASE_1]];

const storeAt = (url: string): StoreUnderMigration => ({
  migrate: (folder) => migrateDatabase(url, folder),
  fill: async (text) => {
    await withSession(url, (session) => session.query(text));
  },
  read: () => readDatabaseTables(url),
});

/** A migration of an imaginary next release. */
const nextMigration = (text: string): Migration => ({
  number: 9_999,
  name: '9999_next.sql',
  text,
  checksum: '',
});

describe('migrations of PostgreSQL', () => {
  test.for(RELEASES)(
    'carry every row of %s over',
    async ([, release], { emptyDatabaseUrl, directory }) => {
      const steps = await migrateWithData(storeAt(emptyDatabaseUrl), {
        release,
        migrations: PRODUCT,
        directory,
        expectations: SQL_MIGRATION_EXPECTATIONS,
      });
      for (const { name, found, expected } of steps)
        expect({ name, found }).toEqual({ name, found: expected });
      const last = PRODUCT.filter(({ number }) => number > release.lastMigration);
      expect(steps.map(({ name }) => name)).toEqual(last.map(({ name }) => name));
    },
  );

  test.for(RELEASES)(
    'find a value in every column of %s',
    async ([, release], { emptyDatabaseUrl, directory }) => {
      const plan = { release, migrations: PRODUCT, directory };
      const filled = await fillRelease(storeAt(emptyDatabaseUrl), plan);
      expect(emptyParts(filled, (text) => text === null)).toEqual([]);
    },
  );

  test('have expectations only when they exist', () => {
    const later = PRODUCT.filter(({ number }) => number > RELEASE_1.lastMigration);
    const names = later.map(({ name }) => name);
    expect(Object.keys(SQL_MIGRATION_EXPECTATIONS).filter((name) => !names.includes(name))).toEqual(
      [],
    );
  });

  const COPY = "UPDATE customers SET label = 'customer ' || name;";
  const ADD = `ALTER TABLE customers ADD COLUMN label text; ${COPY}
    ALTER TABLE customers ALTER COLUMN label SET NOT NULL, ADD COLUMN tier text NOT NULL DEFAULT 'none';
    CREATE TABLE labels (label text); INSERT INTO labels VALUES ('first');`;
  const EXPECTED: MigrationExpectations = {
    '9999_next.sql': {
      addedColumns: { customers: { tier: 'none' } },
      changedRows: { customers: (row) => ({ ...row, label: `customer ${row['name'] ?? ''}` }) },
      addedRows: { labels: [{ label: 'first' }] },
    },
  };

  /**
   * What an imaginary next migration of this text leaves and had to leave. It comes directly after
   * the release: the migrations since then are judged by the first test, once.
   */
  async function nextStep(text: string, url: string, directory: string): Promise<MigrationStep> {
    const steps = await migrateWithData(storeAt(url), {
      release: RELEASE_1,
      directory,
      expectations: EXPECTED,
      migrations: [...UNTIL_RELEASE_1, nextMigration(text)],
    });
    return assertPresent(steps.at(-1), 'the step of the next migration');
  }

  test('let the next one add columns, values and tables', async ({
    emptyDatabaseUrl,
    directory,
  }) => {
    const { found, expected } = await nextStep(ADD, emptyDatabaseUrl, directory);
    expect(found).toEqual(expected);
  });

  test.for([
    ['copies nothing', ADD.replace(COPY, "UPDATE customers SET label = '';")],
    ['gives another default', ADD.replace("DEFAULT 'none'", "DEFAULT 'some'")],
    ['loses a row', `${ADD} DELETE FROM idempotency_keys WHERE key = 'key-2';`],
    ['rounds a number', `${ADD} ALTER TABLE prices ALTER COLUMN amount TYPE numeric(30, 8);`],
    ['drops a column', `${ADD} ALTER TABLE plans DROP COLUMN display_order;`],
    ['fills a new table otherwise', ADD.replace("('first')", "('second')")],
  ] as const)(
    'are found wrong when the next one %s',
    async ([, text], { emptyDatabaseUrl, directory }) => {
      const { found, expected } = await nextStep(text, emptyDatabaseUrl, directory);
      expect(found).not.toEqual(expected);
    },
  );
});
