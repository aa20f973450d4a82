import { z } from 'zod';
import {
  sortedTables,
  type StoredRow,
  type StoredTables,
} from '../../runtime/testing/expected-tables.js';
import type { ClickHouse } from '../client.js';

const columnRow = z.object({ table: z.string(), engine: z.string(), names: z.array(z.string()) });

const COLUMNS = `SELECT table, any(engine) AS engine, groupArray(name) AS names
  FROM (SELECT c.table AS table, t.engine AS engine, c.name AS name
        FROM system.columns AS c INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
        WHERE c.database = currentDatabase() AND c.table != 'schema_migrations'
        ORDER BY c.table, c.position)
  GROUP BY table`;

/** The rows of every table of a database but the list of migrations, as merging leaves them. */
export async function readClickHouseTables(client: ClickHouse): Promise<StoredTables> {
  const stored: Record<string, readonly StoredRow[]> = {};
  for (const { table, engine, names } of await client.query(COLUMNS, {}, columnRow)) {
    const texts = names.map((name) => `toString(t.${name}) AS ${name}`).join(', ');
    const final = engine === 'MergeTree' ? '' : 'FINAL';
    const row = z.record(z.string().nullable());
    stored[table] = await client.query(`SELECT ${texts} FROM ${table} AS t ${final}`, {}, row);
  }
  return sortedTables(stored);
}
