import { createClickHouse } from '../clickhouse/client.js';
import { systemClock } from '../runtime/clock.js';
import { ConfigError, readConfig } from '../runtime/config.js';
import { messageOf } from '../runtime/failure.js';
import { createId } from '../runtime/ids.js';
import { endOnUncaughtErrors, Lifecycle } from '../runtime/lifecycle.js';
import { createLog, type Log } from '../runtime/log.js';
import { createFailedAuthentication } from '../runtime/http/failed-authentication.js';
import { ProgramServer, serveWith } from '../runtime/http/program-server.js';
import { createMetrics, type Metrics } from '../runtime/metrics.js';
import { createApiKeyDirectory } from '../sql/api-keys.js';
import { outageOf } from '../sql/outage.js';
import { createDatabase, type Database } from '../sql/pool.js';
import { EVENT_LOG_SETTINGS } from '../event-log/open-log.js';
import { createBillingApp } from './app.js';
import { startReconciliation } from './events/reconciliation/reconcile.js';
import { createLogAccess } from './events/log-access.js';
import { startKeyRemoval } from './edge/idempotency/remove-expired-keys.js';

const POOL_SIZE = 16;

function readSettings() {
  const config = readConfig(
    [
      'DATABASE_URL',
      'CLICKHOUSE_URL',
      'MINUTEBOOK_READER_CLICKHOUSE_URL',
      'MINUTEBOOK_HOST',
      'MINUTEBOOK_PORT',
      'MINUTEBOOK_LOG_LEVEL',
      'MINUTEBOOK_HEAVY_RATE',
      'MINUTEBOOK_DEFAULT_RATE',
      'MINUTEBOOK_FAILED_AUTH_RATE',
      'MINUTEBOOK_PROXY_COUNT',
      ...EVENT_LOG_SETTINGS,
    ],
    process.env,
  );
  const { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickHouseUrl } = config;
  if (databaseUrl === undefined || clickHouseUrl === undefined) {
    throw new ConfigError(['DATABASE_URL and CLICKHOUSE_URL are needed to run this program alone']);
  }
  return { ...config, databaseUrl, clickHouseUrl };
}

type Settings = ReturnType<typeof readSettings>;

function createApp(
  settings: Settings,
  opened: { database: Database; log: Log; lifecycle: Lifecycle; metrics: Metrics },
) {
  const { database, log, lifecycle, metrics } = opened;
  const clickHouse = createClickHouse(settings.clickHouseUrl);
  lifecycle.onClose('clickhouse', () => clickHouse.close());
  const reader = createClickHouse(
    settings.MINUTEBOOK_READER_CLICKHOUSE_URL ?? settings.clickHouseUrl,
  );
  lifecycle.onClose('clickhouse reader', () => reader.close());
  const config = { ...settings, DATABASE_URL: settings.databaseUrl };
  const engines = { database, clickHouse, clock: systemClock, log, metrics };
  lifecycle.onClose('reconciliation', startReconciliation(engines));
  return createBillingApp({
    database,
    clickHouse: reader,
    log,
    ...createLogAccess({ config, database, clock: systemClock, lifecycle }),
    apiKeys: createApiKeyDirectory(database, systemClock),
    clock: systemClock,
    createId,
    metrics,
    failedAuthentication: createFailedAuthentication(settings),
    rateLimits: {
      heavyPerSecond: settings.MINUTEBOOK_HEAVY_RATE,
      defaultPerSecond: settings.MINUTEBOOK_DEFAULT_RATE,
    },
    otherProbes: {},
  });
}

async function run(): Promise<void> {
  const settings = readSettings();
  const log = createLog('billing-api', settings.MINUTEBOOK_LOG_LEVEL);
  const lifecycle = new Lifecycle(log);
  lifecycle.closeOnSignals();
  endOnUncaughtErrors(log, outageOf);
  const database = await createDatabase(settings.databaseUrl, { poolSize: POOL_SIZE });
  lifecycle.onClose('postgres', () => database.close());
  const metrics = createMetrics();
  const app = createApp(settings, { database, log, lifecycle, metrics });
  const server = new ProgramServer({ handler: serveWith(app), metrics });
  lifecycle.onClose('key removal', startKeyRemoval({ database, clock: systemClock, log }));
  const port = await server.listen(settings.MINUTEBOOK_PORT, settings.MINUTEBOOK_HOST);
  lifecycle.onClose('http', () => server.close());
  log.info({ port }, 'listening');
}

run().catch((error: unknown) => {
  process.stderr.write(`billing-api: ${messageOf(error)}\n`);
  process.exit(1);
});
