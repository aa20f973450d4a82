import { inject, test as base } from 'vitest';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { ClickHouseDatabases, dropClickHouseDatabase, freshName } from './clickhouse-databases.js';
import { withDatabase } from './engines.js';
import { PostgresDatabases, withNewDatabase, type DatabaseFixture } from './postgres-databases.js';
import { makeTestDirectory } from './test-directory.js';
import './provided-context.js';

export type ClickHouseFixture = { readonly url: string; readonly client: ClickHouse };

export type EngineFixtures = {
  /** The PostgreSQL databases of the worker that the test runs in. */
  readonly postgresDatabases: PostgresDatabases;
  /** A migrated and empty PostgreSQL database of the test's own. */
  readonly database: DatabaseFixture;
  /** Address of an empty PostgreSQL database of the test's own. */
  readonly emptyDatabaseUrl: string;
  /** The ClickHouse databases of the worker that the test runs in. */
  readonly clickhouseDatabases: ClickHouseDatabases;
  /** A migrated ClickHouse database of the test's own. */
  readonly clickhouse: ClickHouseFixture;
  /** Address of a ClickHouse database that does not exist yet. */
  readonly emptyClickHouseUrl: string;
  /** A directory of the test's own. */
  readonly directory: string;
};

/** An empty database, without any migration; dropped after use. */
export function withEmptyDatabase(work: (url: string) => Promise<void>): Promise<void> {
  return withNewDatabase(inject('databaseUrl'), 'template1', work);
}

/** A migrated and empty database, for work that is not a test; dropped after use. */
export async function withFreshDatabase(
  work: (fixture: DatabaseFixture) => Promise<void>,
): Promise<void> {
  const databases = new PostgresDatabases(inject('databaseUrl'), inject('templateName'));
  try {
    await databases.lend(work, () => false);
  } finally {
    await databases.close();
  }
}

/** Address of a ClickHouse database that does not exist yet; dropped after use. */
export async function withEmptyClickHouse(work: (url: string) => Promise<void>): Promise<void> {
  const serverUrl = inject('clickhouseUrl');
  const name = freshName();
  try {
    await work(withDatabase(serverUrl, name));
  } finally {
    await dropClickHouseDatabase(serverUrl, name);
  }
}

/** A migrated and empty ClickHouse database, about 100 ms when none is left over. */
export function withFreshClickHouse(
  databases: ClickHouseDatabases,
  work: (fixture: ClickHouseFixture) => Promise<void>,
): Promise<void> {
  return databases.lend(async (url) => {
    const client = createClickHouse(url);
    try {
      await work({ url, client });
    } finally {
      await client.close();
    }
  });
}

async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await makeTestDirectory();
  try {
    await work(directory.path);
  } finally {
    await directory.remove();
  }
}

/**
 * `test` with engines: each test gets its own instance of every fixture that it names. (The empty
 * pattern tells Vitest that a fixture needs no other fixture.)
 */
export const test = base.extend<EngineFixtures>({
  postgresDatabases: [
    async ({}, use) => {
      const databases = new PostgresDatabases(inject('databaseUrl'), inject('templateName'));
      await use(databases);
      await databases.close();
    },
    { scope: 'worker' },
  ],
  database: async ({ postgresDatabases, task }, use) =>
    postgresDatabases.lend(use, () => task.result?.state !== 'fail'),
  emptyDatabaseUrl: async ({}, use) => withEmptyDatabase(use),
  clickhouseDatabases: [
    async ({}, use) => {
      const databases = new ClickHouseDatabases(inject('clickhouseUrl'));
      await use(databases);
      await databases.close();
    },
    { scope: 'worker' },
  ],
  clickhouse: async ({ clickhouseDatabases }, use) => withFreshClickHouse(clickhouseDatabases, use),
  emptyClickHouseUrl: async ({}, use) => withEmptyClickHouse(use),
  directory: async ({}, use) => withDirectory(use),
});
