import type { Client } from 'pg';
import { keepOwnersOut } from '../../clickhouse/guard-copies.js';
import { createLog } from '../../runtime/log.js';
import { createDatabase } from '../../sql/pool.js';
import { endRenewedBatches } from '../operator/end-renewed-batches.js';
import { withPatientSession, type BackupStores } from './backup-stores.js';
import { copyClickHouseIn, readClickHouseContents } from './clickhouse-tables.js';
import {
  assertSameContents,
  assertSameMigrations,
  BackupRefused,
  readManifest,
  type Manifest,
  type StoreContents,
} from './manifest.js';
import { copyPostgresIn, readPostgresContents, renewEventLog } from './postgres-tables.js';

/** Tables that nothing has written to before the first tenant is made. */
const FIRST_FILLED: ReadonlySet<string> = new Set(['tenants', 'event_log_batches']);

function assertEmpty(store: string, { tables }: StoreContents, only?: ReadonlySet<string>): void {
  const filled = tables.find(
    ({ table, rows }) => rows !== '0' && (only === undefined || only.has(table)),
  );
  if (filled === undefined) return;
  throw new BackupRefused(
    `${store} is not empty: table ${filled.table} has ${filled.rows} rows. Restore into new, empty ` +
      'databases, after `minutebook migrate`',
  );
}

async function inTransaction(session: Client, work: () => Promise<void>): Promise<void> {
  await session.query('BEGIN');
  try {
    await work();
    await session.query('COMMIT');
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Batches that were begun when the backup was made: the log has another id now. */
async function endBegunBatches({ ownerDatabaseUrl, clickhouse }: BackupStores): Promise<void> {
  const database = await createDatabase(ownerDatabaseUrl, { poolSize: 2, role: 'owner' });
  const logger = createLog('minutebook', 'warn');
  await endRenewedBatches({ database, clickhouse, logger }).finally(() => database.close());
}

/**
 * Fills two empty databases with a backup and checks that every table holds the same rows. The log
 * in PostgreSQL gets a new id. PostgreSQL is filled in one transaction, and last: when anything
 * fails, it stays empty, and nothing can be started on half a backup. It remembers the ClickHouse
 * that was filled. In the end, batches that were begun on the log in PostgreSQL are ended; until
 * they are, no aggregator starts.
 * @throws BackupRefused that names the remedy; MigrationRefused while an aggregator lives.
 */
export async function restore(stores: BackupStores, directory: string): Promise<Manifest> {
  const { ownerDatabaseUrl, clickhouse } = stores;
  const manifest = await readManifest(directory);
  await withPatientSession(ownerDatabaseUrl, async (session) => {
    const before = await readPostgresContents(session);
    const counted = await readClickHouseContents(clickhouse);
    assertSameMigrations('PostgreSQL', manifest.postgres.migrations, before.migrations);
    assertSameMigrations('ClickHouse', manifest.clickhouse.migrations, counted.migrations);
    assertEmpty('PostgreSQL', before, FIRST_FILLED);
    assertEmpty('ClickHouse', counted);
    await inTransaction(session, async () => {
      await keepOwnersOut(session, 'a restore');
      await copyClickHouseIn(clickhouse, directory);
      const { tables: inClickHouse } = await readClickHouseContents(clickhouse);
      assertSameContents('ClickHouse', manifest.clickhouse.tables, inClickHouse);
      await copyPostgresIn(session, directory);
      const { tables: inPostgres } = await readPostgresContents(session);
      assertSameContents('PostgreSQL', manifest.postgres.tables, inPostgres);
      await renewEventLog(session);
      const { identity } = await clickhouse.readServer();
      await session.query('DELETE FROM clickhouse_identity');
      await session.query('INSERT INTO clickhouse_identity (identity) VALUES ($1)', [identity]);
    });
  });
  await endBegunBatches(stores);
  return manifest;
}
