import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../load-tests/harness/fixtures.js';
import { assertPresent } from '../runtime/failure.js';
import { migrationsFolder, readMigrations, type Migration } from '../runtime/migrations.js';
import {
  emptyParts,
  type MigrationExpectations,
  type StoredTables,
} from '../runtime/testing/expected-tables.js';
import {
  fillRelease,
  migrateWithData,
  type MigrationStep,
  type Release,
  type StoreUnderMigration,
} from '../runtime/testing/migrate-with-data.js';
import { createClickHouse } from './client.js';
import { migrateClickHouse, splitStatements } from './migrate.js';
import { CLICKHOUSE_MIGRATION_EXPECTATIONS } from './testing/migration-expectations.js';
import { readClickHouseTables } from './testing/stored-tables.js';

const PRODUCT = readMigrations(migrationsFolder('clickhouse'));
const readData = (name: string): string =>
  readFileSync(new URL(`testing/${name}.sql`, import.meta.url), 'utf8');
const RELEASE_1: Release = { lastMigration: 1, data: readData('release-1') };
/** A release that adds migrations adds its data here. */
const RELEASES: readonly (readonly [string, Release])[] = [['release 1', RELEASE_1]];
const AFTER_RELEASE_1 = PRODUCT.filter(({ number }) => number > RELEASE_1.lastMigration);

/** What columns hold that nobody has filled. */
const UNFILLED = new Set([
  null,
  '',
  '0',
  'false',
  '[]',
  '{}',
  "(0,0,'',0)",
  '1970-01-01 00:00:00',
  '1970-01-01 00:00:00.000',
]);

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = createClickHouse(url);
  try {
    for (const statement of statements) await client.command(statement);
  } finally {
    await client.close();
  }
}

const storeAt = (url: string): StoreUnderMigration => ({
  migrate: (folder) => migrateClickHouse(url, null, folder),
  fill: (text) => run(url, splitStatements(text)),
  read: async () => {
    const client = createClickHouse(url);
    try {
      return await readClickHouseTables(client);
    } finally {
      await client.close();
    }
  },
});

/** The same store, in which the first attempt at one migration ends after some statements. */
function interruptedAt(
  url: string,
  at: { readonly migration: Migration; readonly statements: number },
  emptyFolder: string,
): StoreUnderMigration {
  const store = storeAt(url);
  const migrate = async (folder: string): Promise<readonly string[]> => {
    if (readMigrations(folder).at(-1)?.name === at.migration.name) {
      // Creates the database.
      await store.migrate(emptyFolder);
      await run(url, splitStatements(at.migration.text).slice(0, at.statements));
    }
    return store.migrate(folder);
  };
  return { ...store, migrate };
}

/** Fills a release, applies what comes after it, and tells what is stored in the end. */
async function storedAfterAll(
  store: StoreUnderMigration,
  migrations: readonly Migration[],
  directory: string,
): Promise<StoredTables> {
  await rm(directory, { recursive: true, force: true });
  await migrateWithData(store, { release: RELEASE_1, migrations, directory, expectations: {} });
  return store.read();
}

/** A migration of an imaginary next release. */
const nextMigration = (text: string): Migration => ({
  number: 9_999,
  name: '9999_next.sql',
  text,
  checksum: '',
});

const ADD_COLUMNS = `ALTER TABLE usage_minute_v1
    ADD COLUMN IF NOT EXISTS value_next SimpleAggregateFunction(max, Decimal(76, 18)) DEFAULT 5;
  ALTER TABLE events_v1 ADD COLUMN IF NOT EXISTS region LowCardinality(String) DEFAULT 'eu';`;
const EXPECTED: MigrationExpectations = {
  '9999_next.sql': {
    addedColumns: { usage_minute_v1: { value_next: '5' }, events_v1: { region: 'eu' } },
  },
};

describe('migrations of ClickHouse', () => {
  test.for(RELEASES)(
    'carry every row of %s over',
    async ([, release], { emptyClickHouseUrl, directory }) => {
      const steps = await migrateWithData(storeAt(emptyClickHouseUrl), {
        release,
        migrations: PRODUCT,
        directory,
        expectations: CLICKHOUSE_MIGRATION_EXPECTATIONS,
      });
      for (const { name, found, expected } of steps) {
        expect({ name, found }).toEqual({ name, found: expected });
      }
      const last = PRODUCT.filter(({ number }) => number > release.lastMigration);
      expect(steps.map(({ name }) => name)).toEqual(last.map(({ name }) => name));
    },
  );

  test.for(RELEASES)(
    'find a value in every column of %s',
    async ([, release], { emptyClickHouseUrl, directory }) => {
      const plan = { release, migrations: PRODUCT, directory };
      const filled = await fillRelease(storeAt(emptyClickHouseUrl), plan);
      expect(emptyParts(filled, (text) => UNFILLED.has(text))).toEqual([]);
    },
  );

  test('give minutes of release 1 no least value until a later row has one', async ({
    emptyClickHouseUrl,
    directory,
  }) => {
    const store = storeAt(emptyClickHouseUrl);
    await fillRelease(store, { release: RELEASE_1, migrations: PRODUCT, directory });
    await store.migrate(migrationsFolder('clickhouse'));
    await store.fill(`INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id,
      generation, minute, source, group_key, event_count, value_min) VALUES
      ('tenant_a', 'env_a', 'e:acme', 'meter_max', 2, '2026-01-05 10:00:00', 'web', 'eu', 1, '0.5'),
      ('tenant_a', 'env_a', 'e:acme', 'meter_max', 2, '2026-01-05 10:00:00', 'web', 'eu', 1, NULL)`);
    const { usage_minute_v1: minutes = [] } = await store.read();
    const least = minutes.map((row) => [row['meter_id'], row['event_count'], row['value_min']]);
    expect(least).toHaveLength(7);
    expect(least.filter(([, , value]) => value !== null)).toEqual([['meter_max', '4', '0.5']]);
  });

  test('keep ids in one table partition for each month of append', async ({
    emptyClickHouseUrl: url,
    directory,
  }) => {
    const store = storeAt(url);
    await fillRelease(store, { release: RELEASE_1, migrations: PRODUCT, directory });
    await store.fill(`INSERT INTO event_ids_v1 SELECT 'log-a', 0, toFixedString(toString(number), 16),
      number, 0, '', now64(3), true, toDateTime64('2026-03-01 12:00:00', 3, 'UTC') + number * 86400
      FROM numbers(40)`);
    await store.migrate(migrationsFolder('clickhouse'));
    const client = createClickHouse(url);
    const partitions = await client.query(
      `SELECT DISTINCT partition FROM system.parts
       WHERE database = currentDatabase() AND table = 'event_ids_v1' AND active ORDER BY partition`,
      {},
      z.object({ partition: z.string() }),
    );
    await client.close();
    const months = ['202601', '202602', '202603', '202604'];
    expect(partitions.map(({ partition }) => partition)).toEqual(months);
    expect((await store.read())['event_ids_v1']).toHaveLength(42);
  });

  test('have expectations only when they exist', () => {
    const names = AFTER_RELEASE_1.map(({ name }) => name);
    const listed = Object.keys(CLICKHOUSE_MIGRATION_EXPECTATIONS);
    expect(listed.filter((name) => !names.includes(name))).toEqual([]);
  });

  test.for([...PRODUCT, nextMigration(ADD_COLUMNS)].map((file) => [file.name, file] as const))(
    'go on when %s was interrupted after any of its statements',
    async ([, migration], { emptyClickHouseUrl, directory }) => {
      const migrations = PRODUCT.includes(migration) ? PRODUCT : [...PRODUCT, migration];
      const files = join(directory, 'files');
      const url = emptyClickHouseUrl;
      const whole = await storedAfterAll(storeAt(url), migrations, files);
      const server = new URL(url);
      server.pathname = '';
      const emptyFolder = await mkdtemp(join(directory, 'none-'));
      for (const statements of splitStatements(migration.text).keys()) {
        await run(server.href, [`DROP DATABASE ${new URL(url).pathname.slice(1)} SYNC`]);
        const store = interruptedAt(url, { migration, statements: statements + 1 }, emptyFolder);
        expect(await storedAfterAll(store, migrations, files)).toEqual(whole);
      }
    },
  );

  test('refuse to go on when the next one cannot be repeated', async ({
    emptyClickHouseUrl: url,
    directory,
  }) => {
    const migration = nextMigration(ADD_COLUMNS.replaceAll('IF NOT EXISTS', ''));
    const files = join(directory, 'files');
    const emptyFolder = await mkdtemp(join(directory, 'none-'));
    const store = interruptedAt(url, { migration, statements: 1 }, emptyFolder);
    const ended = storedAfterAll(store, [...PRODUCT, migration], files);
    await expect(ended).rejects.toThrow('9999_next.sql failed');
  });

  /** What an imaginary next migration of this text leaves and had to leave. */
  async function nextStep(text: string, url: string, directory: string): Promise<MigrationStep> {
    const steps = await migrateWithData(storeAt(url), {
      release: RELEASE_1,
      directory,
      expectations: EXPECTED,
      migrations: [...PRODUCT, nextMigration(text)],
    });
    return assertPresent(steps.at(-1), 'the step of the next migration');
  }

  test('let the next one add columns to usage_minute_v1 and events_v1', async ({
    emptyClickHouseUrl,
    directory,
  }) => {
    const { found, expected } = await nextStep(ADD_COLUMNS, emptyClickHouseUrl, directory);
    expect(found).toEqual(expected);
  });

  test.for([
    ['gives another default', ADD_COLUMNS.replace(' DEFAULT 5', '')],
    ['drops a column', `${ADD_COLUMNS} ALTER TABLE usage_minute_v1 DROP COLUMN uniques;`],
    ['loses rows', `${ADD_COLUMNS} TRUNCATE TABLE dead_letters_v1;`],
    [
      'cuts digits',
      `${ADD_COLUMNS} ALTER TABLE events_v1 MODIFY COLUMN received_at DateTime64(2, 'UTC');`,
    ],
  ] as const)(
    'are found wrong when the next one %s',
    async ([, text], { emptyClickHouseUrl, directory }) => {
      const { found, expected } = await nextStep(text, emptyClickHouseUrl, directory);
      expect(found).not.toEqual(expected);
    },
  );
});
