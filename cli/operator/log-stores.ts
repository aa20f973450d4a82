import { randomUUID } from 'node:crypto';
import { createCatalogReader } from '../../aggregator/gather/catalog.js';
import type { BatchStores } from '../../aggregator/ownership/end-begun-batches.js';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { createOneServer } from '../../clickhouse/one-server.js';
import { refuseUnmigratedClickHouse } from '../../clickhouse/prepared-clickhouse.js';
import type { EventLogReader, EventLogWriter } from '../../event-log/interface/event-log.js';
import { openEventLogReader, openEventLogWriter } from '../../event-log/open-log.js';
import { createLazy } from '../../runtime/lazy.js';
import { Lifecycle } from '../../runtime/lifecycle.js';
import { createLog, type Log } from '../../runtime/log.js';
import { createDatabase, type Database } from '../../sql/pool.js';
import { assertMigrated } from '../../sql/prepared-database.js';
import { startEngines, type Engines } from '../stack/engines.js';
import { readStackConfig, type StackConfig } from '../stack/stack-config.js';

/** The log of the settings, and the stores into which it is counted. */
export type LogStores = {
  readonly config: StackConfig;
  /** As the owner. */
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly log: EventLogReader;
  readonly openWriter: () => Promise<EventLogWriter>;
  readonly logger: Log;
};

/** The same for ending begun batches, as a member of its own. */
export function batchStoresOf({
  database,
  clickhouse,
  logger,
}: Pick<LogStores, 'database' | 'clickhouse' | 'logger'>): BatchStores {
  const catalog = createCatalogReader(database, () => performance.now());
  return { database, clickhouse, logger, catalog, memberId: randomUUID() };
}

type Addresses = Pick<Engines, 'databaseUrl' | 'ownerDatabaseUrl' | 'clickhouseUrl'>;

/** Servers that are given stay as they are; embedded ones are started and brought up to date. */
async function addressesOf(
  config: StackConfig,
  logger: Log,
  lifecycle: Lifecycle,
): Promise<Addresses> {
  const { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl } = config;
  if (databaseUrl === undefined || clickhouseUrl === undefined) {
    return startEngines(config, logger, lifecycle);
  }
  const ownerDatabaseUrl = config.MINUTEBOOK_OWNER_DATABASE_URL ?? databaseUrl;
  return { databaseUrl, ownerDatabaseUrl, clickhouseUrl };
}

/**
 * Runs `work` on the log that the settings name. It starts embedded engines itself, so the product
 * must be stopped; the engines report it when it is not.
 * @throws ConfigError or DependencyError that says what to do.
 */
export async function withLogStores<T>(work: (stores: LogStores) => Promise<T>): Promise<T> {
  const config = readStackConfig(process.env);
  const logger = createLog('minutebook', 'warn');
  const lifecycle = new Lifecycle(logger);
  try {
    const engines = await addressesOf(config, logger, lifecycle);
    const database = await createDatabase(engines.ownerDatabaseUrl, { poolSize: 2, role: 'owner' });
    lifecycle.onClose('postgres', () => database.close());
    await assertMigrated(database);
    const clickhouse = createClickHouse(engines.clickhouseUrl);
    lifecycle.onClose('clickhouse', () => clickhouse.close());
    await refuseUnmigratedClickHouse(clickhouse);
    await createOneServer(database, clickhouse).begin();
    const logConfig = { ...config, DATABASE_URL: engines.databaseUrl };
    const log = await openEventLogReader(logConfig);
    lifecycle.onClose('event log', () => log.close());
    const writer = createLazy(() => openEventLogWriter(logConfig));
    lifecycle.onClose('event log writer', () => writer.close());
    const openWriter = () => writer.get();
    return await work({ config, database, clickhouse, log, openWriter, logger });
  } finally {
    await lifecycle.close();
  }
}
