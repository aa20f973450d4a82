import { z } from 'zod';
import {
  sortedTables,
  type StoredRow,
  type StoredTables,
} from '../../runtime/testing/expected-tables.js';
import { withSession } from '../session.js';

const tableRows = z.array(z.object({ name: z.string() }));
const storedRows = z.array(z.object({ row: z.record(z.string().nullable()) }));

/** Every value as text, digit for digit; nested values as their JSON text. */
const ROW_AS_TEXTS = `SELECT (SELECT jsonb_object_agg(key, value #>> '{}')
    FROM jsonb_each(to_jsonb(stored))) AS row FROM`;

/** The rows of every table of a database but the lists of migrations and functions. */
export function readDatabaseTables(url: string): Promise<StoredTables> {
  return withSession(url, async (session) => {
    await session.query("SET TIME ZONE 'UTC'");
    const tables = await session.query(`
      SELECT quote_ident(tablename) AS name FROM pg_tables
      WHERE schemaname = 'public' AND tablename NOT IN ('schema_migrations', 'schema_functions')`);
    const stored: Record<string, readonly StoredRow[]> = {};
    for (const { name } of tableRows.parse(tables.rows)) {
      const result = await session.query(`${ROW_AS_TEXTS} ${name} AS stored`);
      stored[name] = storedRows.parse(result.rows).map(({ row }) => row);
    }
    return sortedTables(stored);
  });
}
