import { randomBytes } from 'node:crypto';
import { inject, test as base } from 'vitest';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { migrateClickHouse } from '../../clickhouse/migrate.js';
import { createDatabase, type Database } from '../../sql/pool.js';
import { withSession } from '../../sql/session.js';
import { withDatabase } from './engines.js';
import { makeTestDirectory } from './test-directory.js';
import './provided-context.js';

export type DatabaseFixture = { readonly url: string; readonly database: Database };
export type ClickHouseFixture = { readonly url: string; readonly client: ClickHouse };

export type EngineFixtures = {
  /** A migrated PostgreSQL database of the test's own. */
  readonly database: DatabaseFixture;
  /** Address of an empty PostgreSQL database of the test's own. */
  readonly emptyDatabaseUrl: string;
  /** A migrated ClickHouse database of the test's own. */
  readonly clickhouse: ClickHouseFixture;
  /** Address of a ClickHouse database that does not exist yet. */
  readonly emptyClickHouseUrl: string;
  /** A directory of the test's own. */
  readonly directory: string;
};

/** Fewer connections than a program has, so that a leaked connection is noticed. */
const POOL_SIZE = 8;

const freshName = (): string => `test_${randomBytes(8).toString('hex')}`;

async function withNewDatabase(
  template: string,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const serverUrl = inject('databaseUrl');
  const name = freshName();
  await withSession(serverUrl, (session) =>
    session.query(`CREATE DATABASE ${name} TEMPLATE ${template}`),
  );
  try {
    await work(withDatabase(serverUrl, name));
  } finally {
    await withSession(serverUrl, (session) => session.query(`DROP DATABASE ${name} WITH (FORCE)`));
  }
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
    const client = createClickHouse(withDatabase(serverUrl, ''));
    await client.command(`DROP DATABASE IF EXISTS ${name} SYNC`);
    await client.close();
  }
}

/** A migrated ClickHouse database, about 100 ms; dropped after use. */
export function withFreshClickHouse(
  work: (fixture: ClickHouseFixture) => Promise<void>,
): Promise<void> {
  return withEmptyClickHouse(async (url) => {
    await migrateClickHouse(url, null);
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
  clickhouse: async ({}, use) => withFreshClickHouse(use),
  emptyClickHouseUrl: async ({}, use) => withEmptyClickHouse(use),
  directory: async ({}, use) => withDirectory(use),
});
