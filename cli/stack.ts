import { mkdir } from 'node:fs/promises';
import { createBillingApp } from '../billing-api/app.js';
import { startReconciliation } from '../billing-api/events/reconciliation/reconcile.js';
import { createLogAccess } from '../billing-api/events/log-access.js';
import { startKeyRemoval } from '../billing-api/edge/idempotency/remove-expired-keys.js';
import { createClickHouse } from '../clickhouse/client.js';
import { openEventLogWriter } from '../event-log/open-log.js';
import { createIngest } from '../ingest/create-ingest.js';
import { systemClock } from '../runtime/clock.js';
import { ConfigError } from '../runtime/config.js';
import { codeOf } from '../runtime/failure.js';
import { createFailedAuthentication } from '../runtime/http/failed-authentication.js';
import { createId } from '../runtime/ids.js';
import { Lifecycle } from '../runtime/lifecycle.js';
import { createLog, type Log } from '../runtime/log.js';
import { createMetrics } from '../runtime/metrics.js';
import { createApiKeyDirectory } from '../sql/api-keys.js';
import { bootstrap } from '../sql/bootstrap.js';
import { createDatabase } from '../sql/pool.js';
import { startAggregator } from './aggregator-process.js';
import { startEngines, type Engines } from './engines.js';
import { firstApiKey } from './first-api-key.js';
import type { StackConfig } from './stack-config.js';
import { supervise, type Supervised } from './supervise.js';

/** A running product. */
export type Stack = {
  /** `http://host:port`, without `/v1`. */
  readonly url: string;
  readonly apiKey: string;
  readonly databaseUrl: string;
  /** Of the owner, who sees all rows. */
  readonly ownerDatabaseUrl: string;
  readonly clickhouseUrl: string;
  readonly readerClickhouseUrl: string;
  /** Null when `CLICKHOUSE_URL` names a server. */
  readonly clickhouse: Supervised | null;
  readonly aggregator: Supervised;
  readonly lifecycle: Lifecycle;
};

type Opening = {
  readonly config: StackConfig;
  readonly engines: Engines;
  readonly logger: Log;
  readonly lifecycle: Lifecycle;
};

/** @throws ConfigError when the port is in use or may not be used. */
async function listen(
  server: { readonly listen: (port: number, host: string) => Promise<number> },
  { MINUTEBOOK_PORT: port, MINUTEBOOK_HOST: host }: StackConfig,
): Promise<number> {
  try {
    return await server.listen(port, host);
  } catch (error) {
    const code = codeOf(error);
    if (code === null) throw error;
    const reason =
      code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be used (${code})`;
    throw new ConfigError([`${host}:${port} ${reason}: set MINUTEBOOK_PORT to another port`]);
  }
}

/** Serves the event routes and the REST API on one port; returns the address. */
async function openEdge({ config, engines, logger, lifecycle }: Opening): Promise<string> {
  const metrics = createMetrics();
  const database = await createDatabase(engines.databaseUrl, { poolSize: 16 });
  lifecycle.onClose('postgres', () => database.close());
  const clickhouse = createClickHouse(engines.clickhouseUrl);
  lifecycle.onClose('clickhouse', () => clickhouse.close());
  const reader = createClickHouse(engines.readerClickhouseUrl);
  lifecycle.onClose('clickhouse reader', () => reader.close());
  const logConfig = { ...config, DATABASE_URL: engines.databaseUrl };
  const writer = await openEventLogWriter(logConfig);
  lifecycle.onClose('event log', () => writer.close());
  const access = { config: logConfig, database, clock: systemClock, lifecycle, writer };
  const apiKeys = createApiKeyDirectory(database, systemClock);
  const failedAuthentication = createFailedAuthentication(config);
  const fallback = createBillingApp({
    failedAuthentication,
    database,
    clickHouse: reader,
    apiKeys,
    ...createLogAccess(access),
    metrics,
    log: logger,
    clock: systemClock,
    createId,
    rateLimits: {
      heavyPerSecond: config.MINUTEBOOK_HEAVY_RATE,
      defaultPerSecond: config.MINUTEBOOK_DEFAULT_RATE,
    },
    otherProbes: { event_log: () => writer.ping() },
  });
  const stores = { database, clickHouse: clickhouse, clock: systemClock, log: logger, metrics };
  lifecycle.onClose('reconciliation', startReconciliation(stores));
  const removal = startKeyRemoval({ database, clock: systemClock, log: logger });
  lifecycle.onClose('key removal', removal);
  const server = createIngest({
    writer,
    apiKeys,
    metrics,
    log: logger,
    clock: systemClock,
    failedAuthentication,
    requestsPerSecond: config.MINUTEBOOK_INGEST_RATE,
    produceTimeoutMs: config.MINUTEBOOK_PRODUCE_TIMEOUT_MS,
    fallback,
  });
  const port = await listen(server, config);
  lifecycle.onClose('http', () => server.close());
  return `http://${config.MINUTEBOOK_HOST}:${port}`;
}

/** The settings as environment variables of a program of ours, without those that are absent. */
function environmentOf(settings: StackConfig): Record<string, string> {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

async function openStack(opening: Omit<Opening, 'engines'>): Promise<Stack> {
  const { config, logger, lifecycle } = opening;
  await mkdir(config.MINUTEBOOK_DATA_DIR, { recursive: true });
  const apiKey = await firstApiKey(config.MINUTEBOOK_DATA_DIR, config.MINUTEBOOK_BOOTSTRAP_API_KEY);
  const engines = await startEngines(config, logger, lifecycle);
  const { databaseUrl, ownerDatabaseUrl, clickhouseUrl, readerClickhouseUrl, clickhouse } = engines;
  await bootstrap(engines.ownerDatabaseUrl, { apiKey });
  const settings = { ...config, DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl };
  // The aggregator must not be able to become the owner.
  const withoutOwner = { MINUTEBOOK_OWNER_DATABASE_URL: '', MINUTEBOOK_READER_CLICKHOUSE_URL: '' };
  const environment = { ...process.env, ...environmentOf(settings), ...withoutOwner };
  const url = await openEdge({ ...opening, engines });
  const aggregator = await supervise('aggregator', () => startAggregator(environment), logger);
  lifecycle.onClose('aggregator', () => aggregator.stop());
  const urls = { url, databaseUrl, ownerDatabaseUrl, clickhouseUrl, readerClickhouseUrl };
  return { ...urls, apiKey, clickhouse, aggregator, lifecycle };
}

/**
 * Starts the whole product: engines, first key, the HTTP interface in this process, and an
 * aggregator in another one. Close it through `lifecycle`. After a failure everything that was
 * opened is closed again.
 * @param onClosed runs after everything else is closed.
 * @throws ConfigError or DependencyError that says what to do.
 */
export async function startStack(
  config: StackConfig,
  onClosed: () => Promise<void> = () => Promise.resolve(),
): Promise<Stack> {
  const logger = createLog('minutebook', config.MINUTEBOOK_LOG_LEVEL);
  const lifecycle = new Lifecycle(logger);
  lifecycle.onClose('caller', onClosed);
  try {
    return await openStack({ config, logger, lifecycle });
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}
