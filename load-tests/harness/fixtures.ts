import { inject, test as base } from 'vitest';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { createDatabase, type Database } from '../../sql/pool.js';
import { ClickHouseDatabases, dropClickHouseDatabase, freshName } from './clickhouse-databases.js';
import { withDatabase } from './engines.js';
import { closeOwner } from './owner.js';
import { makeTestDirectory } from './test-directory.js';
import './provided-context.js';
import { withPatientSession } from './patient-session.js';

export type DatabaseFixture = { readonly url: string; readonly database: Database };
export type ClickHouseFixture = { readonly url: string; readonly client: ClickHouse };

export type EngineFixtures = {
  /** A migrated PostgreSQL database of the test's own. */
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

/** As billing-api has, so that a tenant has as many connections as there, which are half. */
const POOL_SIZE = 16;

async function withNewDatabase(
  template: string,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const serverUrl = inject('databaseUrl');
  const name = freshName();
  await withPatientSession(serverUrl, async (session) => {
    // Half the time of a copy through the server's log, which tests do not need.
    await session.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    try {
      await work(withDatabase(serverUrl, name));
    } finally {
      await session.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });
}

/** An empty database, without any migration; dropped after use. */
export function withEmptyDatabase(work: (url: string) => Promise<void>): Promise<void> {
  return withNewDatabase('template1', work);
}

/** A clone of the migrated template, about 40 ms; dropped after use. */
export function withFreshDatabase(
  work: (fixture: DatabaseFixture) => Promise<void>,
): Promise<void> {
  return withNewDatabase(inject('templateName'), async (url) => {
    const database = await createDatabase(url, { poolSize: POOL_SIZE });
    try {
      await work({ url, database });
    } finally {
      await closeOwner(url);
      await database.close();
    }
  });
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
  database: async ({}, use) => withFreshDatabase(use),
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
