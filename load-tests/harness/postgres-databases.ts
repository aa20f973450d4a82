import { Client } from 'pg';
import { createDatabase, type Database } from '../../sql/pool.js';
import { freshName } from './clickhouse-databases.js';
import { withDatabase } from './engines.js';
import { closeOwner, ownerSessions } from './owner.js';
import { PATIENT_CONNECT, withPatientSession } from './patient-session.js';

export type DatabaseFixture = { readonly url: string; readonly database: Database };

/** As billing-api has, so that a tenant has as many connections as there, which are half. */
const POOL_SIZE = 16;
/** What more rows leave behind slows the next tests down; a new database is cheaper. */
const MAX_ROWS = 3_000;

/** Makes a database of the server, and drops it after use. */
export async function withNewDatabase<T>(
  serverUrl: string,
  template: string,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const name = freshName();
  await makeDatabase(serverUrl, name, template);
  try {
    return await work(withDatabase(serverUrl, name));
  } finally {
    await dropDatabase(serverUrl, name);
  }
}

async function makeDatabase(serverUrl: string, name: string, template: string): Promise<void> {
  // Half the time of a copy through the server's log, which tests do not need.
  await withPatientSession(serverUrl, (session) =>
    session.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`),
  );
}

async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await withPatientSession(serverUrl, (session) =>
    session.query(`DROP DATABASE ${name} WITH (FORCE)`),
  );
}

/** Changes when a table, function, trigger, policy or right of the database does. */
const SCHEMA = `SELECT concat_ws(' ', ${[
  'pg_class',
  'pg_attribute',
  'pg_proc',
  'pg_trigger',
  'pg_constraint',
  'pg_policy',
  'pg_namespace',
]
  .map((name) => `(SELECT count(*) || '/' || max(xmin::text::bigint) FROM ${name})`)
  .join(', ')}) AS state`;

const TABLES = `SELECT quote_ident(relname) AS name FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`;

const SEQUENCES = `SELECT quote_ident(sequencename) AS name, coalesce(last_value, start_value) AS at,
    last_value IS NOT NULL AS called
  FROM pg_sequences WHERE schemaname = 'public' ORDER BY sequencename`;

/** Sessions and locks that a test has left behind. */
const LEFT = `SELECT
  (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS sessions,
  (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS locks`;

/** How to bring a database back to what a new one holds. */
type Original = {
  readonly schema: string;
  /** Asks each table that is empty at first whether it has rows; its answers are their names. */
  readonly filled: string;
  /** Rows that the migrations wrote, as text, by table. */
  readonly seeds: ReadonlyMap<string, string>;
  /** Gives the sequences their first numbers. */
  readonly restart: string;
};

const rowsOf = (table: string): string =>
  `SELECT coalesce(json_agg(one ORDER BY one::text), '[]')::text AS rows FROM ${table} AS one`;

async function readSchema(session: Client): Promise<string> {
  const { rows } = await session.query<{ state: string }>(SCHEMA);
  return rows[0]?.state ?? '';
}

async function readRows(session: Client, table: string): Promise<string> {
  const { rows } = await session.query<{ rows: string }>(rowsOf(table));
  return rows[0]?.rows ?? '';
}

async function readOriginal(session: Client): Promise<Original> {
  const { rows: tables } = await session.query<{ name: string }>(TABLES);
  const seeds = new Map<string, string>();
  for (const { name } of tables) {
    const rows = await readRows(session, name);
    if (rows !== '[]') seeds.set(name, rows);
  }
  const { rows: sequences } = await session.query<{ name: string; at: string; called: boolean }>(
    SEQUENCES,
  );
  const empty = tables.filter(({ name }) => !seeds.has(name));
  return {
    schema: await readSchema(session),
    filled: empty
      .map(({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM ${name})`)
      .join(' UNION ALL '),
    seeds,
    restart: `SELECT ${sequences
      .map(({ name, at, called }) => `setval('${name}', ${at}, ${called})`)
      .join(', ')}`,
  };
}

type Lent = DatabaseFixture & {
  readonly name: string;
  /** The superuser's, beside the pool. */
  readonly session: Client;
  readonly original: Original;
};

const openSessions = ({ slonik }: Database): number => {
  const { idleConnections, acquiredConnections, state } = slonik.state();
  return state === 'ACTIVE' && acquiredConnections === 0 ? idleConnections : Number.NaN;
};

/** Whether all that still is in the database is rows. */
async function isQuiet({ session, database, url, original }: Lent): Promise<boolean> {
  const known = openSessions(database) + (await ownerSessions(url)) + 1;
  const { rows } = await session.query<{ sessions: number; locks: number }>(LEFT);
  if (rows[0]?.sessions !== known || rows[0].locks !== 0) return false;
  return (await readSchema(session)) === original.schema;
}

/** Removes what a test has written. False when a new database is cheaper or safer. */
async function empty(lent: Lent): Promise<boolean> {
  if (!(await isQuiet(lent))) return false;
  const { session, original } = lent;
  const { rows: filled } = await session.query<{ name: string }>({
    name: 'filled',
    text: original.filled,
  });
  let removed = 0;
  for (const { name } of filled) {
    removed += (await session.query(`DELETE FROM ${name}`)).rowCount ?? 0;
  }
  for (const [table, rows] of original.seeds) {
    if ((await readRows(session, table)) === rows) continue;
    await session.query(`DELETE FROM ${table}`);
    await session.query(
      `INSERT INTO ${table} OVERRIDING SYSTEM VALUE
       SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
      [rows],
    );
  }
  await session.query(original.restart);
  return removed <= MAX_ROWS;
}

/**
 * Migrated databases of one test worker, with the pool that tests use. A database that a test has
 * only written rows to is emptied and given to the next test with its sessions, which know its
 * tables by then: that halves what the server works for a test. Any other is dropped.
 */
export class PostgresDatabases {
  readonly #unused: Lent[] = [];

  constructor(
    private readonly serverUrl: string,
    private readonly template: string,
  ) {}

  /**
   * Runs `work` on a database that is migrated and empty.
   * @param hasEnded false when `work` may go on after its end, as a test does that has timed out.
   */
  async lend(
    work: (fixture: DatabaseFixture) => Promise<void>,
    hasEnded: () => boolean,
  ): Promise<void> {
    const lent = this.#unused.pop() ?? (await this.#make());
    try {
      await work({ url: lent.url, database: lent.database });
    } finally {
      // What fails here would hide what the test failed with.
      const isEmpty = hasEnded() && (await empty(lent).catch(() => false));
      if (isEmpty) this.#unused.push(lent);
      else await this.#drop(lent);
    }
  }

  /** Drops those that wait for another test. */
  async close(): Promise<void> {
    for (const lent of this.#unused.splice(0)) await this.#drop(lent);
  }

  async #make(): Promise<Lent> {
    const name = freshName();
    const url = withDatabase(this.serverUrl, name);
    await makeDatabase(this.serverUrl, name, this.template);
    const session = new Client({
      connectionString: url,
      connectionTimeoutMillis: PATIENT_CONNECT.connectTimeoutMs,
    });
    // A test may end all sessions of its database; then it is dropped.
    session.on('error', () => undefined);
    await session.connect();
    // Rows are removed without what watches over them: triggers and foreign keys.
    await session.query('SET session_replication_role = replica');
    const database = await createDatabase(url, { poolSize: POOL_SIZE });
    return { name, url, database, session, original: await readOriginal(session) };
  }

  async #drop({ name, url, session, database }: Lent): Promise<void> {
    await closeOwner(url);
    await database.close().catch(() => undefined);
    await session.end().catch(() => undefined);
    await dropDatabase(this.serverUrl, name);
  }
}
