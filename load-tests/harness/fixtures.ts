import { randomBytes } from 'node:crypto';
import { inject, test as base } from 'vitest';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { migrateClickHouse } from '../../clickhouse/migrate.js';
import { createDatabase, type Database } from '../../sql/pool.js';
import { withSession } from '../../sql/session.js';
import { withDatabase } from './engines.js';
import './provided-context.js';

export type DatabaseFixture = { readonly url: string; readonly database: Database };
export type ClickHouseFixture = { readonly url: string; readonly client: ClickHouse };

export type EngineFixtures = {
  /** A migrated PostgreSQL database of the test's own. */
  readonly database: DatabaseFixture;
  /** A migrated ClickHouse database of the test's own. */
  readonly clickhouse: ClickHouseFixture;
};

const POOL_SIZE = 8;

const freshName = (): string => `test_${randomBytes(8).toString('hex')}`;

/** A clone of the migrated template, about 40 ms; dropped after use. */
export async function withFreshDatabase(
  work: (fixture: DatabaseFixture) => Promise<void>,
): Promise<void> {
  const serverUrl = inject('databaseUrl');
  const name = freshName();
  const url = withDatabase(serverUrl, name);
  const template = inject('templateName');
  await withSession(serverUrl, (session) =>
    session.query(`CREATE DATABASE ${name} TEMPLATE ${template}`),
  );
  const database = await createDatabase(url, { poolSize: POOL_SIZE });
  try {
    await work({ url, database });
  } finally {
    await database.close();
    await withSession(serverUrl, (session) => session.query(`DROP DATABASE ${name} WITH (FORCE)`));
  }
}

/** A migrated ClickHouse database, about 100 ms; dropped after use. */
export async function withFreshClickHouse(
  work: (fixture: ClickHouseFixture) => Promise<void>,
): Promise<void> {
  const name = freshName();
  const url = withDatabase(inject('clickhouseUrl'), name);
  await migrateClickHouse(url, null);
  const client = createClickHouse(url);
  try {
    await work({ url, client });
  } finally {
    await client.command(`DROP DATABASE ${name} SYNC`);
    await client.close();
  }
}

/** `test` with engines: a fresh database per test for whoever names the fixture. */
export const test = base.extend<EngineFixtures>({
  // Vitest reads the names of the needed fixtures from this pattern; none is needed.
  // eslint-disable-next-line no-empty-pattern
  database: async ({}, use) => withFreshDatabase(use),
  // eslint-disable-next-line no-empty-pattern
  clickhouse: async ({}, use) => withFreshClickHouse(use),
});
