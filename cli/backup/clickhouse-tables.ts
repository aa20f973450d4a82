import { join } from 'node:path';
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { APPLIED_MIGRATIONS, appliedMigration } from '../../clickhouse/migrate.js';
import type { StoreContents, TableContents } from './manifest.js';
import { readTableFile, writeTableFile } from './table-file.js';

const tableRow = z.object({
  name: z.string(),
  engine: z.string(),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
});
type Table = z.infer<typeof tableRow>;

const TABLES = `
  SELECT t.name AS name, any(t.engine) AS engine,
    arrayMap(c -> CAST((c.2, c.3), 'Tuple(name String, type String)'),
      arraySort(groupArray((c.position, c.name, c.type)))) AS columns
  FROM system.tables AS t JOIN system.columns AS c ON c.database = t.database AND c.table = t.name
  WHERE t.database = currentDatabase() AND endsWith(t.engine, 'MergeTree')
    AND t.name != 'schema_migrations'
  GROUP BY t.name ORDER BY t.name
  SETTINGS output_format_json_named_tuples_as_objects = 1`;

const quoted = (name: string): string => `\`${name}\``;

const listTables = (clickhouse: ClickHouse): Promise<Table[]> =>
  clickhouse.query(TABLES, {}, tableRow);

/** The engines merge rows at any time: what rows mean counts, not how many there are just now. */
const mergedRowsOf = ({ name, engine }: Table): string =>
  engine === 'MergeTree' ? quoted(name) : `${quoted(name)} FINAL`;

/** Without an order of its own: merges put the elements of a set in any order. */
const comparable = ({ name, type }: Table['columns'][number]): string =>
  type.includes('groupUniqArrayArray') ? `arraySort(${quoted(name)})` : quoted(name);

async function contentsOf(clickhouse: ClickHouse, table: Table): Promise<TableContents> {
  const row = `toString(tuple(${table.columns.map(comparable).join(', ')}))`;
  const [found] = await clickhouse.query(
    `SELECT toString(count()) AS rows, toString(sum(cityHash64(${row}))) AS digest
     FROM ${mergedRowsOf(table)}`,
    {},
    z.object({ rows: z.string(), digest: z.string() }),
  );
  return { table: table.name, rows: found?.rows ?? '', digest: found?.digest ?? '' };
}

const fileOf = (directory: string, table: string): string =>
  join(directory, 'clickhouse', `${table}.tsv.gz`);

const columnsOf = ({ columns }: Table): string =>
  columns.map(({ name }) => quoted(name)).join(', ');

async function migrationsOf(clickhouse: ClickHouse): Promise<string[]> {
  const applied = await clickhouse.query(APPLIED_MIGRATIONS, {}, appliedMigration);
  return applied.map(({ name }) => name).sort();
}

/** What every table holds, and the migrations that made them. */
export async function readClickHouseContents(clickhouse: ClickHouse): Promise<StoreContents> {
  const tables: TableContents[] = [];
  for (const table of await listTables(clickhouse)) {
    tables.push(await contentsOf(clickhouse, table));
  }
  return { migrations: await migrationsOf(clickhouse), tables };
}

/** Writes every table into `<directory>/clickhouse`. Nobody may write to the tables meanwhile. */
export async function copyClickHouseOut(
  clickhouse: ClickHouse,
  directory: string,
): Promise<StoreContents> {
  const tables: TableContents[] = [];
  for (const table of await listTables(clickhouse)) {
    const expected = await contentsOf(clickhouse, table);
    const select = `SELECT ${columnsOf(table)} FROM ${mergedRowsOf(table)}`;
    const rows = Readable.from(clickhouse.streamBytes(select, {}, 'TabSeparated'));
    await writeTableFile(fileOf(directory, table.name), rows, expected);
    tables.push(expected);
  }
  return { migrations: await migrationsOf(clickhouse), tables };
}

/** Adds the rows of the backup to the tables, which must be empty. */
export async function copyClickHouseIn(clickhouse: ClickHouse, directory: string): Promise<void> {
  for (const table of await listTables(clickhouse)) {
    const insert = `INSERT INTO ${quoted(table.name)} (${columnsOf(table)}) FORMAT TabSeparated`;
    await clickhouse.insertStream(insert, readTableFile(fileOf(directory, table.name)));
  }
}
