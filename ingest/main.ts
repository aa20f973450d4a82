import { EVENT_LOG_SETTINGS, openEventLogWriter } from '../event-log/open-log.js';
import { systemClock } from '../runtime/clock.js';
import { ConfigError, readConfig } from '../runtime/config.js';
import { createFailedAuthentication } from '../runtime/http/failed-authentication.js';
import { endOnUncaughtErrors, endProgram, Lifecycle } from '../runtime/lifecycle.js';
import { createLog } from '../runtime/log.js';
import { createMetrics } from '../runtime/metrics.js';
import { createApiKeyDirectory } from '../sql/api-keys.js';
import { outageOf } from '../sql/outage.js';
import { createDatabase } from '../sql/pool.js';
import { createIngest } from './create-ingest.js';
import { createOperations } from './http/operations.js';
import { createReadiness } from '../runtime/readiness.js';

const SETTINGS = [
  ...EVENT_LOG_SETTINGS,
  'DATABASE_URL',
  'MINUTEBOOK_PORT',
  'MINUTEBOOK_HOST',
  'MINUTEBOOK_LOG_LEVEL',
  'MINUTEBOOK_INGEST_RATE',
  'MINUTEBOOK_FAILED_AUTH_RATE',
  'MINUTEBOOK_PROXY_COUNT',
] as const;

/** Only for look-ups of API keys, at most one per second and key. */
const POOL_SIZE = 4;

const config = readConfig(SETTINGS, process.env);
const log = createLog('ingest', config.MINUTEBOOK_LOG_LEVEL);
const lifecycle = new Lifecycle(log);
endOnUncaughtErrors(log, outageOf);

/** The event routes as a separate program; `npm start` runs them in the process of the API. */
async function start(databaseUrl: string): Promise<void> {
  const metrics = createMetrics();
  const database = await createDatabase(databaseUrl, { poolSize: POOL_SIZE });
  lifecycle.onClose('postgres', () => database.close());
  const writer = await openEventLogWriter({ ...config, DATABASE_URL: databaseUrl });
  lifecycle.onClose('event log', () => writer.close());
  const probes = {
    event_log: () => writer.ping(),
    postgres: () => database.ping(),
  };
  const server = createIngest({
    writer,
    apiKeys: createApiKeyDirectory(database, systemClock),
    metrics,
    log,
    clock: systemClock,
    failedAuthentication: createFailedAuthentication(config),
    requestsPerSecond: config.MINUTEBOOK_INGEST_RATE,
    produceTimeoutMs: config.MINUTEBOOK_PRODUCE_TIMEOUT_MS,
    fallback: createOperations({ readiness: createReadiness(probes, log), metrics }),
  });
  const port = await server.listen(config.MINUTEBOOK_PORT, config.MINUTEBOOK_HOST);
  lifecycle.onClose('http', () => server.close());
  lifecycle.closeOnSignals();
  log.info({ port, partitions: writer.identity.partitionCount }, 'listening');
}

try {
  if (config.DATABASE_URL === undefined) {
    throw new ConfigError(['DATABASE_URL is required: only npm start can use an embedded server']);
  }
  await start(config.DATABASE_URL);
} catch (error) {
  await lifecycle.close();
  endProgram(error, log);
}
