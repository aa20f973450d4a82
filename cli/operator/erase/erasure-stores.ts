import { join } from 'node:path';
import { createLogAccess } from '../../../billing-api/events/log-access.js';
import { createClickHouse, type ClickHouse } from '../../../clickhouse/client.js';
import { assertClickHouseMigrated } from '../../../clickhouse/prepared-clickhouse.js';
import { findRunningClickHouse } from '../../../clickhouse/running-embedded.js';
import type { EventLogReader } from '../../../event-log/event-log.js';
import { systemClock } from '../../../runtime/clock.js';
import { Lifecycle } from '../../../runtime/lifecycle.js';
import { createLog } from '../../../runtime/log.js';
import { createDatabase, type Database } from '../../../sql/pool.js';
import { assertMigrated } from '../../../sql/prepared-database.js';
import { findRunningPostgres } from '../../../sql/running-embedded.js';
import { startEngines } from '../../engines.js';
import { readStackConfig, type StackConfig } from '../../stack-config.js';

/** A day: a table may have any number of rows. */
const REQUEST_TIMEOUT_MS = 86_400_000;

/** Both databases, as their owner, and the log. */
export type ErasureStores = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly openLog: () => Promise<EventLogReader>;
};

type Urls = { readonly owner: string; readonly programs: string; readonly clickhouse: string };

/** Servers of your own, or embedded ones that run because the product does; null when one rests. */
async function findRunning(config: StackConfig): Promise<Urls | null> {
  const directory = (name: string): string => join(config.MINUTEBOOK_DATA_DIR, name);
  const programs = config.DATABASE_URL ?? (await findRunningPostgres(directory('postgres')));
  const clickhouse =
    config.CLICKHOUSE_URL ?? (await findRunningClickHouse(directory('clickhouse')));
  if (programs === null || clickhouse === null) return null;
  return { owner: config.MINUTEBOOK_OWNER_DATABASE_URL ?? programs, programs, clickhouse };
}

async function startThem(config: StackConfig, lifecycle: Lifecycle): Promise<Urls> {
  const engines = await startEngines(config, createLog('minutebook', 'warn'), lifecycle);
  const { ownerDatabaseUrl: owner, databaseUrl: programs, clickhouseUrl: clickhouse } = engines;
  return { owner, programs, clickhouse };
}

/**
 * Runs `work` on the stores that the settings name, whether the product runs or not.
 * @throws DependencyError that names the remedy when tables of this release are missing.
 */
export async function withErasureStores<T>(
  environment: NodeJS.ProcessEnv,
  work: (stores: ErasureStores) => Promise<T>,
): Promise<T> {
  const config = readStackConfig(environment);
  const lifecycle = new Lifecycle(createLog('minutebook', 'warn'));
  try {
    const urls = (await findRunning(config)) ?? (await startThem(config, lifecycle));
    const database = await createDatabase(urls.owner, { poolSize: 3, role: 'owner' });
    lifecycle.onClose('postgres', () => database.close());
    await assertMigrated(database);
    const clickhouse = createClickHouse(urls.clickhouse, { requestTimeoutMs: REQUEST_TIMEOUT_MS });
    lifecycle.onClose('clickhouse', () => clickhouse.close());
    await assertClickHouseMigrated(clickhouse);
    const logConfig = { ...config, DATABASE_URL: urls.programs };
    const access = { config: logConfig, database, clock: systemClock, lifecycle };
    const { eventLog } = createLogAccess(access);
    return await work({ database, clickhouse, openLog: eventLog.reader });
  } finally {
    await lifecycle.close();
  }
}
