import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg, { type Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { z } from 'zod';
import { queryText } from '../../sql/statement.js';
import { BackupRefused, type StoreContents, type TableContents } from './manifest.js';
import { readTableFile, writeTableFile } from './table-file.js';

type Table = z.infer<typeof tableRow>;

const tableRow = z.object({
  name: z.string(),
  /** Without generated ones, which the server computes. */
  columns: z.array(z.string()),
  identity: z.string().nullable(),
  references: z.array(z.string()),
  is_forced: z.boolean(),
});

/**
 * Every table of the product with what it refers to; migrations are told by their names, and
 * functions go with them.
 */
const TABLES = `
  SELECT c.relname::text AS name, c.relforcerowsecurity AS is_forced,
    (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute AS a
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '')
      AS columns,
    (SELECT a.attname::text FROM pg_attribute AS a
     WHERE a.attrelid = c.oid AND a.attidentity <> '' LIMIT 1) AS identity,
    ARRAY(SELECT DISTINCT t.relname::text FROM pg_constraint AS k
      JOIN pg_class AS t ON t.oid = k.confrelid
      WHERE k.conrelid = c.oid AND k.contype = 'f' AND t.oid <> c.oid) AS references
  FROM pg_class AS c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
    AND c.relname NOT IN ('schema_migrations', 'schema_functions')
  ORDER BY c.relname`;

const quoted = (name: string): string => pg.escapeIdentifier(name);

/** Each table behind those that it refers to. */
function inOrderOfReferences(tables: readonly Table[]): readonly Table[] {
  const ordered: Table[] = [];
  const placed = new Set<string>();
  while (ordered.length < tables.length) {
    const ready = tables.filter(
      ({ name, references }) => !placed.has(name) && references.every((one) => placed.has(one)),
    );
    if (ready.length === 0) throw new BackupRefused('tables of PostgreSQL refer to one another');
    for (const table of ready) placed.add(table.name);
    ordered.push(...ready);
  }
  return ordered;
}

async function listTables(session: Client): Promise<readonly Table[]> {
  const { rows } = await session.query(TABLES);
  return inOrderOfReferences(z.array(tableRow).parse(rows));
}

async function contentsOf(session: Client, table: string): Promise<TableContents> {
  const { rows } = await session.query(
    `SELECT count(*)::text AS rows,
       coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)::text AS digest
     FROM ${quoted(table)} AS t`,
  );
  const [found] = z.array(z.object({ rows: z.string(), digest: z.string() })).parse(rows);
  return { table, rows: found?.rows ?? '', digest: found?.digest ?? '' };
}

async function migrationsOf(session: Client): Promise<readonly string[]> {
  const { rows } = await session.query('SELECT name FROM schema_migrations ORDER BY number');
  return z
    .array(z.object({ name: z.string() }))
    .parse(rows)
    .map(({ name }) => name);
}

const fileOf = (directory: string, table: string): string =>
  join(directory, 'postgres', `${table}.copy.gz`);

const columnsOf = ({ columns }: Table): string => columns.map(quoted).join(', ');

/** What every table holds, and the migrations that made them. */
export async function readPostgresContents(session: Client): Promise<StoreContents> {
  const tables: TableContents[] = [];
  for (const { name } of await listTables(session)) tables.push(await contentsOf(session, name));
  return { migrations: [...(await migrationsOf(session))], tables };
}

/**
 * Writes every table into `<directory>/postgres`, all as of one moment. The session must be in a
 * transaction of one snapshot.
 */
export async function copyPostgresOut(session: Client, directory: string): Promise<StoreContents> {
  const tables: TableContents[] = [];
  for (const table of await listTables(session)) {
    const expected = await contentsOf(session, table.name);
    const copy = `COPY (SELECT ${columnsOf(table)} FROM ${quoted(table.name)}) TO STDOUT`;
    await writeTableFile(fileOf(directory, table.name), session.query(copyTo(copy)), expected);
    tables.push(expected);
  }
  return { migrations: [...(await migrationsOf(session))], tables };
}

async function copyTableIn(session: Client, table: Table, directory: string): Promise<void> {
  const name = quoted(table.name);
  // Row-level security that binds the owner, too, does not let COPY write.
  const forced = table.is_forced ? [`ALTER TABLE ${name} NO FORCE ROW LEVEL SECURITY`] : [];
  for (const statement of forced) await session.query(statement);
  // What triggers do at a change has been done, and is among the rows.
  await session.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
  const copy = session.query(copyFrom(`COPY ${name} (${columnsOf(table)}) FROM STDIN`));
  await pipeline(readTableFile(fileOf(directory, table.name)), copy);
  await session.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
  if (table.is_forced) await session.query(`ALTER TABLE ${name} FORCE ROW LEVEL SECURITY`);
  if (table.identity === null) return;
  await session.query(
    `SELECT setval(pg_get_serial_sequence($1, $2), max(${quoted(table.identity)})) FROM ${name}`,
    [`public.${table.name}`, table.identity],
  );
}

/** Replaces the rows of every table by those of the backup, in the transaction of the session. */
export async function copyPostgresIn(session: Client, directory: string): Promise<void> {
  const tables = await listTables(session);
  // That the ledger is never emptied is said by triggers; the copy enables them again.
  for (const { name } of tables) {
    await session.query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`);
  }
  await session.query(`TRUNCATE ${tables.map(({ name }) => quoted(name)).join(', ')}`);
  for (const table of tables) await copyTableIn(session, table, directory);
}

/** Who reads the log begins at its end. Nobody makes meters while a backup is restored. */
const BEGIN_AT_END = `
  INSERT INTO aggregator_checkpoints (log, partition, next_offset, catalog_version, min_version)
  SELECT l.log_id, b.partition, b.end_offset, counter.version, counter.version
  FROM event_logs AS l CROSS JOIN event_log_bounds() AS b CROSS JOIN catalog_counter AS counter`;

/**
 * Gives the log in PostgreSQL a new id, because offsets that were given out after the backup will
 * be given out again, and removes the records that are counted: the new log would count them anew
 * as duplicates. The last ones of each partition stay, since they say where it ends; when all are
 * counted, as of a log that another one has replaced, the new log begins behind them.
 */
export async function renewEventLog(session: Client): Promise<void> {
  const { rows } = await session.query<{ readonly records: string }>(
    queryText('count-uncounted-records'),
  );
  await session.query(queryText('trim-counted-records'));
  await session.query('SELECT renew_event_log_id()');
  if (rows[0]?.records === '0') await session.query(BEGIN_AT_END);
}
