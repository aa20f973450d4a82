import type { Application } from 'express';
import { createClickHouse } from '../clickhouse/client.js';
import {
  assertClickHouseMigrated,
  refuseUnmigratedClickHouse,
} from '../clickhouse/prepared-clickhouse.js';
import { loadRdKafka } from '../event-log/kafka/rdkafka.js';
import { EVENT_LOG_SETTINGS } from '../event-log/open-log.js';
import { systemClock } from '../runtime/clock.js';
import { required } from '../runtime/config.js';
import { createFailedAuthentication } from '../runtime/http/failed-authentication.js';
import { listenOn, publicAddress } from '../runtime/http/listen-on.js';
import { ProgramServer, serveWith } from '../runtime/http/program-server.js';
import { OPERATIONS_SETTINGS, serveOperations } from '../runtime/http/serve-operations.js';
import { setHeapGrowth } from '../runtime/heap.js';
import { createId } from '../runtime/ids.js';
import { endProgram } from '../runtime/lifecycle.js';
import { createMetrics, type Metrics } from '../runtime/metrics.js';
import { openProgram } from '../runtime/program.js';
import { createReadiness, type Readiness } from '../runtime/readiness.js';
import { createApiKeyDirectory } from '../sql/api-keys.js';
import { startKeyUses } from '../sql/key-uses.js';
import { startJobs } from '../sql/jobs/start-jobs.js';
import { refuseLogElsewhere } from '../sql/log-in-use.js';
import type { Database } from '../sql/pool.js';
import { assertMigrated, openPreparedDatabase } from '../sql/prepared-database.js';
import { createBillingApp } from './app.js';
import { createLogAccess } from './usage/watermark/log-access.js';
import { BILLING_JOBS } from './jobs/billing-jobs.js';
import { createJobNeeds } from './jobs/job-needs.js';

setHeapGrowth(200);

const POOL_SIZE = 16;

const PREVIEW_THREAD = new URL('./invoicing/preview/preview-thread.js', import.meta.url);
const PAPER_THREAD = new URL('./reading/print/paper-thread.js', import.meta.url);

/** Beside ingest, whose ports are 8080 and 9080, on one machine. */
const DEFAULTS = { MINUTEBOOK_PORT: '8081', MINUTEBOOK_METRICS_PORT: '9081' };

const { config, log, lifecycle } = openProgram('billing-api', {
  names: [
    'DATABASE_URL',
    'CLICKHOUSE_URL',
    'MINUTEBOOK_READER_CLICKHOUSE_URL',
    'MINUTEBOOK_HOST',
    'MINUTEBOOK_PORT',
    'MINUTEBOOK_HEAVY_RATE',
    'MINUTEBOOK_DEFAULT_RATE',
    'MINUTEBOOK_FAILED_AUTH_RATE',
    'MINUTEBOOK_PROXY_COUNT',
    'MINUTEBOOK_PUBLIC_RATE',
    'MINUTEBOOK_TOKEN_SECRET',
    'MINUTEBOOK_SECRETS_KEY',
    'MINUTEBOOK_PREVIOUS_SECRETS_KEY',
    'MINUTEBOOK_PRIVATE_TARGETS',
    'MINUTEBOOK_SIGN_UP',
    'MINUTEBOOK_CONSOLE',
    ...EVENT_LOG_SETTINGS,
    ...OPERATIONS_SETTINGS,
  ],
  defaults: DEFAULTS,
});

type Opened = {
  readonly databaseUrl: string;
  readonly database: Database;
  readonly metrics: Metrics;
};

type App = { readonly app: Application; readonly readiness: Readiness };

async function createApp({ databaseUrl, database, metrics }: Opened): Promise<App> {
  const clickHouseUrl = required(config, 'CLICKHOUSE_URL');
  const clickHouse = createClickHouse(clickHouseUrl);
  lifecycle.onClose('clickhouse', () => clickHouse.close());
  await refuseUnmigratedClickHouse(clickHouse);
  const isInKafka = config.KAFKA_BROKERS !== undefined;
  await refuseLogElsewhere(database, { isInKafka });
  const reader = createClickHouse(config.MINUTEBOOK_READER_CLICKHOUSE_URL ?? clickHouseUrl);
  lifecycle.onClose('clickhouse reader', () => reader.close());
  const logConfig = { ...config, DATABASE_URL: databaseUrl };
  const keyUses = startKeyUses({ database, clock: systemClock, log });
  lifecycle.onClose('key uses', keyUses.stop);
  const probes = {
    postgres: () => database.ping(),
    clickhouse: () => reader.ping(),
    schema: () => Promise.all([assertMigrated(database), assertClickHouseMigrated(clickHouse)]),
    log_in_use: () => refuseLogElsewhere(database, { isInKafka }),
  };
  const readiness = createReadiness(probes, log, lifecycle);
  const access = createLogAccess({ config: logConfig, database, clock: systemClock, lifecycle });
  const outward = {
    secretsKey: config.MINUTEBOOK_SECRETS_KEY,
    previousSecretsKey: config.MINUTEBOOK_PREVIOUS_SECRETS_KEY,
    arePrivateTargetsAllowed: config.MINUTEBOOK_PRIVATE_TARGETS === 'allow',
  };
  const { dataUntil } = access;
  const needs = createJobNeeds({ database, clickHouse, reader, log, dataUntil, ...outward });
  const jobs = { database, jobs: BILLING_JOBS, needs, clock: systemClock, log, metrics };
  lifecycle.onClose('jobs', await startJobs(jobs));
  // A driver that is not compiled is told at the start, not by the first request.
  if (isInKafka) await loadRdKafka();
  const app = createBillingApp({
    database,
    clickHouse: reader,
    log,
    ...access,
    apiKeys: createApiKeyDirectory(database, systemClock, { noteUse: keyUses.note }),
    ...outward,
    isSignUpOpen: config.MINUTEBOOK_SIGN_UP === 'open',
    consoleMode: config.MINUTEBOOK_CONSOLE,
    tokenSecret: required(config, 'MINUTEBOOK_TOKEN_SECRET'),
    clock: systemClock,
    createId,
    metrics,
    failedAuthentication: createFailedAuthentication(config),
    rateLimits: {
      heavyPerSecond: config.MINUTEBOOK_HEAVY_RATE,
      defaultPerSecond: config.MINUTEBOOK_DEFAULT_RATE,
    },
    previewThread: PREVIEW_THREAD,
    paperThread: PAPER_THREAD,
    publicLimits: config,
    readiness,
  });
  return { app, readiness };
}

async function start(): Promise<void> {
  const databaseUrl = required(config, 'DATABASE_URL');
  const database = await openPreparedDatabase(databaseUrl, { poolSize: POOL_SIZE });
  lifecycle.onClose('postgres', () => database.close());
  const metrics = createMetrics('billing-api');
  const { app, readiness } = await createApp({ databaseUrl, database, metrics });
  const operations = { readiness, metrics };
  const metricsPort = await serveOperations({ config, operations, metrics, lifecycle });
  const server = new ProgramServer({ handler: serveWith(app), metrics, lifecycle });
  const port = await listenOn(server, publicAddress(config));
  lifecycle.onClose('http', () => server.close());
  log.info({ port, metricsPort }, 'listening');
  // `npm start` has started this program and sends requests on to its port.
  process.send?.({ port });
}

try {
  await start();
} catch (error) {
  await lifecycle.close();
  endProgram(error, log);
}
