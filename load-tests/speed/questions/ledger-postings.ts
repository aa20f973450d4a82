import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { sql } from 'slonik';
import { z } from 'zod';
import { postingsOfPayment } from '../../../billing-api/domain/ledger/postings.js';
import { postGroups } from '../../../billing-api/money/ledger/post-groups.js';
import { writeUnit } from '../../../billing-api/records/unit.js';
import { tableLines } from '../../../cli/look/tables.js';
import { decimalOfCount } from '../../../contract/number/decimal.js';
import { systemClock } from '../../../runtime/clock.js';
import { createId } from '../../../runtime/ids.js';
import { startEmbeddedPostgres } from '../../../sql/embedded.js';
import { migrateDatabase } from '../../../sql/migrate.js';
import { createDatabase, type Database } from '../../../sql/pool.js';
import { ownerOf } from '../../harness/owner.js';
import { writeResults } from './write-results.js';

/**
 * How many movements of money a process posts in a second: for one customer, whose chain they wait
 * for, and for a thousand; beside the same rows written by plain statements in transactions of
 * their own, without a chain. `npm run measure -- ledger-postings`.
 */
const CUSTOMERS = 1_000;
const CALLERS = 8;
const SECONDS = 5;
const ROUNDS = 3;
const ENVIRONMENT = { tenantId: 'tenant_1', environmentId: 'env_1' };
const actor = { kind: 'operator', name: 'measure' } as const;

/** Calls `work` by so many callers at once, for some seconds; how often a second it was done. */
async function rateOf(work: (n: number) => Promise<void>): Promise<number> {
  const end = performance.now() + SECONDS * 1_000;
  let done = 0;
  const call = async (): Promise<void> => {
    while (performance.now() < end) {
      done += 1;
      await work(done);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  return Math.round(done / SECONDS);
}

async function prepare(database: Database): Promise<void> {
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO tenants (id, name) VALUES ('tenant_1', 'Measured')`);
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO environments (id, tenant_id, name, type)
    VALUES ('env_1', 'tenant_1', 'Measured', 'development')`);
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO customers (id, tenant_id, environment_id, external_id, name, metadata, status,
      created_at, updated_at)
    SELECT 'cust_' || n, 'tenant_1', 'env_1', 'c' || n, 'C', '{}', 'published', now(), now()
    FROM generate_series(0, ${CUSTOMERS - 1}) AS n`);
}

/** One movement of its own unit, as an operation posts it. */
function postedBy(database: Database, customers: number) {
  const dependencies = { database, clock: systemClock, createId };
  return async (n: number): Promise<void> => {
    await writeUnit(dependencies, { environment: ENVIRONMENT, actor }, async (unit) => {
      await postGroups(unit, [
        {
          customerId: `cust_${n % customers}`,
          kind: 'measured',
          entityType: 'payment',
          entityId: createId('pay'),
          currency: 'usd',
          postings: postingsOfPayment(decimalOfCount(5)),
        },
      ]);
      return null;
    });
  };
}

/** The same rows by two plain statements in a transaction. */
function plainBy(pool: pg.Pool, customers: number) {
  return async (n: number): Promise<void> => {
    const client = await pool.connect();
    const id = createId('ledger');
    try {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO ledger_groups VALUES ($1, 'tenant_1', 'env_1', $2, $3, 'plain', 'payment', $1, 0,
          'usd', now(), 'none')`,
        [id, `cust_${n % customers}`, Number(process.hrtime.bigint() % 1_000_000_000_000n) + n],
      );
      await client.query(
        `INSERT INTO ledger_postings VALUES
          ($1 || 'a', 'tenant_1', 'env_1', $1, 0, 'payments', NULL, $2, 5, 'usd', 'payment', $1, now()),
          ($1 || 'b', 'tenant_1', 'env_1', $1, 1, 'receivable', NULL, $2, -5, 'usd', 'payment', $1, now())`,
        [id, `cust_${n % customers}`],
      );
      await client.query('COMMIT');
    } finally {
      client.release();
    }
  };
}

const directory = await mkdtemp(join(tmpdir(), 'minutebook-measure-'));
const server = await startEmbeddedPostgres({ directory: join(directory, 'pg'), port: 0 });
await migrateDatabase(server.url);
const database = await createDatabase(server.url, { poolSize: CALLERS });
const pool = new pg.Pool({ connectionString: server.url, max: CALLERS });
try {
  await prepare(database);
  const results: Record<string, number[]> = {};
  const note = (name: string, rate: number): void => {
    results[name] = [...(results[name] ?? []), rate];
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const customers of [1, CUSTOMERS]) {
      note(`${customers} customers, plain`, await rateOf(plainBy(pool, customers)));
      note(`${customers} customers, posted`, await rateOf(postedBy(database, customers)));
    }
  }
  const lines = Object.entries(results).map(([name, rates]) => [name, ...rates]);
  const header = ['movements a second', ...Array.from({ length: ROUNDS }, (_, n) => `${n + 1}`)];
  for (const line of tableLines(header, lines)) console.log(line);
  await writeResults('ledger-postings', { callers: CALLERS, seconds: SECONDS, results });
} finally {
  await pool.end();
  await database.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}
