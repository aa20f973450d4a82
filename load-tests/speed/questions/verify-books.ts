import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'slonik';
import { z } from 'zod';
import { postingsOfPayment } from '../../../billing-api/domain/ledger/postings.js';
import { postGroups } from '../../../billing-api/ledger/post-groups.js';
import { takeAnchor } from '../../../billing-api/ledger/take-anchor.js';
import { verifyBooks } from '../../../billing-api/ledger/verify-books.js';
import { writeUnit } from '../../../billing-api/records/unit.js';
import { tableLines } from '../../../cli/demo/tables.js';
import { decimalOfCount } from '../../../contract/decimal.js';
import { systemClock } from '../../../runtime/clock.js';
import { createId } from '../../../runtime/ids.js';
import { createSecretBox } from '../../../runtime/secret-box.js';
import { startEmbeddedPostgres } from '../../../sql/embedded.js';
import { migrateDatabase } from '../../../sql/migrate.js';
import { createDatabase, type Database } from '../../../sql/pool.js';
import { ownerOf } from '../../harness/owner.js';
import { writeResults } from './write-results.js';

/**
 * How long the books of an environment take to be verified and anchored, and how far the statement
 * that takes longest is from the limit of 60 s. `npm run measure -- verify-books`.
 */
const CUSTOMERS = 2_000;
const MOVEMENTS = 300_000;
const AT_ONCE = 2_000;
/** A quarter of what the programs allow: a statement that takes longer fails the measurement. */
const STATEMENT_TIMEOUT_MS = 15_000;
const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };
const actor = { kind: 'operator', name: 'measure' } as const;
const job = { kind: 'job', job: 'measure', runId: 'run' } as const;
const occasion = { environment, actor };

async function prepare(database: Database): Promise<void> {
  const owner = ownerOf(database);
  await owner.query(sql.type(z.unknown())`
    INSERT INTO tenants (id, name) VALUES ('tenant_1', 'Measured')`);
  await owner.query(sql.type(z.unknown())`
    INSERT INTO environments (id, tenant_id, name, type)
    VALUES ('env_1', 'tenant_1', 'Measured', 'development')`);
  await owner.query(sql.type(z.unknown())`
    INSERT INTO customers (id, tenant_id, environment_id, external_id, name, metadata, status,
      created_at, updated_at)
    SELECT 'cust_' || n, 'tenant_1', 'env_1', 'c' || n, 'C', '{}', 'published', now(), now()
    FROM generate_series(0, ${CUSTOMERS - 1}) AS n`);
}

async function post(database: Database): Promise<void> {
  const dependencies = { database, clock: systemClock, createId };
  for (let done = 0; done < MOVEMENTS; done += AT_ONCE) {
    await writeUnit(dependencies, occasion, async (unit) => {
      const groups = Array.from({ length: AT_ONCE }, (_, n) => ({
        customerId: `cust_${(done + n) % CUSTOMERS}`,
        ...{ kind: 'payment.succeeded', entityType: 'payment', entityId: createId('pay') },
        ...{ currency: 'usd', postings: postingsOfPayment(decimalOfCount(5)) },
      }));
      await postGroups(unit, groups);
      return null;
    });
  }
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO payments (id, tenant_id, environment_id, destination_type, destination_id, customer_id,
      payment_method_type, amount, refunded_amount, currency, payment_status, attempts, metadata, status,
      created_at, updated_at)
    SELECT entity_id, tenant_id, environment_id, 'INVOICE', 'inv', customer_id, 'OFFLINE', 5, 0, 'usd',
      'SUCCEEDED', '[]', '{}', 'published', now(), now()
    FROM ledger_groups`);
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return Math.round((performance.now() - begin) / 100) / 10;
}

const directory = await mkdtemp(join(tmpdir(), 'minutebook-measure-'));
const server = await startEmbeddedPostgres({ directory: join(directory, 'pg'), port: 0 });
await migrateDatabase(server.url);
const options = { poolSize: 2, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
const database = await createDatabase(server.url, options);
const secretBox = createSecretBox('a key for measurements, long enough');
try {
  await prepare(database);
  await post(database);
  const needs = { database, clock: systemClock, createId, secretBox };
  const verify = () =>
    verifyBooks(needs, occasion, {}).then((books) => {
      if (books.problems.length > 0) throw new Error(JSON.stringify(books.problems.slice(0, 3)));
    });
  const anchor = () => takeAnchor(needs, { environment, actor: job }, secretBox.signer);
  const results = {
    'verified, without an anchor': await secondsOf(verify),
    'first anchor': await secondsOf(anchor),
    'verified with it': await secondsOf(verify),
  };
  for (const line of tableLines(['', 'seconds'], Object.entries(results))) console.log(line);
  await writeResults('verify-books', { customers: CUSTOMERS, movements: MOVEMENTS, results });
} finally {
  await database.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}
