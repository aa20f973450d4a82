import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { migrateClickHouse } from '../../clickhouse/migrate.js';
import { withDatabase } from './engines.js';

/** A database name that no test has had. */
export const freshName = (): string => `test_${randomBytes(8).toString('hex')}`;

/** Removes a database of the server, if it is there. */
export async function dropClickHouseDatabase(serverUrl: string, name: string): Promise<void> {
  const client = createClickHouse(withDatabase(serverUrl, ''));
  await client.command(`DROP DATABASE IF EXISTS ${name} SYNC`);
  await client.close();
}

/** What the tables are, and how many rows they hold apart from the list of migrations. */
async function readState(client: ClickHouse): Promise<string> {
  const rows = await client.query(
    `SELECT name, create_table_query AS made, if(name = 'schema_migrations', 0, total_rows) AS size
     FROM system.tables WHERE database = currentDatabase() ORDER BY name`,
    {},
    z.unknown(),
  );
  return JSON.stringify(rows);
}

type Lent = { readonly name: string; readonly state: string };

/**
 * Migrated databases of one test worker. Most tests never write to ClickHouse: a database that
 * comes back as it was made is given to the next test, any other is dropped.
 */
export class ClickHouseDatabases {
  readonly #unused: Lent[] = [];

  constructor(private readonly serverUrl: string) {}

  /** Runs `work` on the address of a database that is migrated and empty. */
  async lend(work: (url: string) => Promise<void>): Promise<void> {
    const lent = this.#unused.pop() ?? (await this.#make());
    const { name, state } = lent;
    const url = withDatabase(this.serverUrl, name);
    try {
      await work(url);
    } finally {
      const client = createClickHouse(url);
      const isAsMade = (await readState(client).catch(() => null)) === state;
      await client.close();
      if (isAsMade) this.#unused.push(lent);
      else await dropClickHouseDatabase(this.serverUrl, name);
    }
  }

  /** Drops those that wait for another test. */
  async close(): Promise<void> {
    for (const { name } of this.#unused.splice(0)) {
      await dropClickHouseDatabase(this.serverUrl, name);
    }
  }

  async #make(): Promise<Lent> {
    const name = freshName();
    const url = withDatabase(this.serverUrl, name);
    await migrateClickHouse(url, null);
    const client = createClickHouse(url);
    const state = await readState(client);
    await client.close();
    return { name, state };
  }
}
