import type { Client } from 'pg';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { assertClickHouseMigrated } from '../../clickhouse/prepared-clickhouse.js';
import { Lifecycle } from '../../runtime/lifecycle.js';
import { createLog } from '../../runtime/log.js';
import { createDatabase } from '../../sql/pool.js';
import { assertMigrated } from '../../sql/prepared-database.js';
import { PATIENT, withSession } from '../../sql/session.js';
import { startEngines } from '../stack/engines.js';
import { readStackConfig } from '../stack/stack-config.js';

/** A day: a table may have any number of rows. */
const REQUEST_TIMEOUT_MS = 86_400_000;

/** Both databases, as their owner. */
export type BackupStores = {
  readonly ownerDatabaseUrl: string;
  readonly clickhouse: ClickHouse;
};

/**
 * Runs `work` on the databases that the settings name. It starts embedded engines itself, so the
 * product must be stopped; the engines report it when it is not.
 * @throws DependencyError that names the remedy when tables of this release are missing.
 */
export async function withBackupStores<T>(
  environment: NodeJS.ProcessEnv,
  work: (stores: BackupStores) => Promise<T>,
): Promise<T> {
  const config = readStackConfig(environment);
  const logger = createLog('minutebook', 'warn');
  const lifecycle = new Lifecycle(logger);
  const { CLICKHOUSE_URL: givenClickHouse, DATABASE_URL: givenDatabase } = config;
  try {
    const { ownerDatabaseUrl, clickhouseUrl } =
      givenClickHouse !== undefined && givenDatabase !== undefined
        ? {
            ownerDatabaseUrl: config.MINUTEBOOK_OWNER_DATABASE_URL ?? givenDatabase,
            clickhouseUrl: givenClickHouse,
          }
        : await startEngines(config, logger, lifecycle);
    const clickhouse = createClickHouse(clickhouseUrl, { requestTimeoutMs: REQUEST_TIMEOUT_MS });
    lifecycle.onClose('clickhouse', () => clickhouse.close());
    const database = await createDatabase(ownerDatabaseUrl, { poolSize: 1, role: 'owner' });
    await assertMigrated(database).finally(() => database.close());
    await assertClickHouseMigrated(clickhouse);
    return await work({ ownerDatabaseUrl, clickhouse });
  } finally {
    await lifecycle.close();
  }
}

/**
 * The texts of values must not depend on settings of the login or the database, and nothing may end
 * a session for taking long; only each statement has an end.
 */
const SETTINGS = [
  `SET TIME ZONE 'UTC'`,
  `SET DateStyle = 'ISO, MDY'`,
  `SET IntervalStyle = 'postgres'`,
  `SET bytea_output = 'hex'`,
  'SET extra_float_digits = 3',
  'SET idle_in_transaction_session_timeout = 0',
  `SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout'`,
].join('; ');

/** A session of PostgreSQL that writes texts in one way and may take a day for a statement. */
export function withPatientSession<T>(
  url: string,
  work: (session: Client) => Promise<T>,
): Promise<T> {
  const prepared = async (session: Client): Promise<T> => {
    await session.query(SETTINGS);
    return work(session);
  };
  return withSession(url, prepared, PATIENT);
}
