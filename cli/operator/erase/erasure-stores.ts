import { createLogAccess } from '../../../billing-api/usage/watermark/log-access.js';
import { createClickHouse, type ClickHouse } from '../../../clickhouse/client.js';
import { createOneServer } from '../../../clickhouse/one-server.js';
import { assertClickHouseMigrated } from '../../../clickhouse/prepared-clickhouse.js';
import type { EventLogReader } from '../../../event-log/interface/event-log.js';
import { systemClock } from '../../../runtime/clock.js';
import { Lifecycle } from '../../../runtime/lifecycle.js';
import { createLog } from '../../../runtime/log.js';
import { createDatabase, type Database } from '../../../sql/pool.js';
import { assertMigrated } from '../../../sql/prepared-database.js';
import { readStackConfig } from '../../stack/stack-config.js';
import { findOrStartEngines } from './engine-urls.js';

/** A day: a table may have any number of rows. */
const REQUEST_TIMEOUT_MS = 86_400_000;

/** Both databases, as their owner, and the log. */
export type ErasureStores = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly openLog: () => Promise<EventLogReader>;
};

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
    const urls = await findOrStartEngines(config, lifecycle);
    const database = await createDatabase(urls.owner, { poolSize: 3, role: 'owner' });
    lifecycle.onClose('postgres', () => database.close());
    await assertMigrated(database);
    const clickhouse = createClickHouse(urls.clickhouse, { requestTimeoutMs: REQUEST_TIMEOUT_MS });
    lifecycle.onClose('clickhouse', () => clickhouse.close());
    await assertClickHouseMigrated(clickhouse);
    await createOneServer(database, clickhouse).begin();
    const logConfig = { ...config, DATABASE_URL: urls.programs };
    const access = { config: logConfig, database, clock: systemClock, lifecycle };
    const { eventLog } = createLogAccess(access);
    return await work({ database, clickhouse, openLog: eventLog.reader });
  } finally {
    await lifecycle.close();
  }
}
