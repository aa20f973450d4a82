import { KAFKA_SETTINGS } from '../event-log/kafka/security.js';
import { createClickHouse } from '../clickhouse/client.js';
import {
  assertClickHouseMigrated,
  refuseUnmigratedClickHouse,
} from '../clickhouse/prepared-clickhouse.js';
import { openEventLogReader } from '../event-log/open-log.js';
import { required } from '../runtime/config.js';
import { OPERATIONS_SETTINGS, serveOperations } from '../runtime/http/serve-operations.js';
import { setHeapGrowth } from '../runtime/heap.js';
import { endProgram } from '../runtime/lifecycle.js';
import { createMetrics } from '../runtime/metrics.js';
import { openProgram } from '../runtime/program.js';
import { createReadiness } from '../runtime/readiness.js';
import { refuseOtherLog } from '../sql/log-in-use.js';
import { assertMigrated, openPreparedDatabase } from '../sql/prepared-database.js';
import { Aggregator } from './aggregator.js';
import { startHeart } from './ownership/heart.js';
import { refuseUncountedLog } from './ownership/refuse-uncounted-log.js';

// Batches leave much garbage.
setHeapGrowth(50);

/** Beside ingest and billing-api, whose ports are 9080 and 9081, on one machine. */
const METRICS_PORT = '9082';
const HEART_THREAD = new URL('./ownership/heart-thread.js', import.meta.url);

const {
  config,
  log: logger,
  lifecycle,
} = openProgram('aggregator', {
  names: [
    'DATABASE_URL',
    'CLICKHOUSE_URL',
    ...KAFKA_SETTINGS,
    'MINUTEBOOK_LOG_PARTITIONS',
    'MINUTEBOOK_LOG_REPLICAS',
    'MINUTEBOOK_LOG_RETENTION_HOURS',
    'MINUTEBOOK_PRODUCE_TIMEOUT_MS',
    'MINUTEBOOK_FLUSH_DELAY_MS',
    'MINUTEBOOK_BATCH_EVENTS_MAX',
    'MINUTEBOOK_FILTER_FALSE_POSITIVE_RATE',
    'MINUTEBOOK_METER_REVERT_HOURS',
    'MINUTEBOOK_EVENT_RETENTION_DAYS',
    ...OPERATIONS_SETTINGS,
  ],
  // Nobody sends it requests: others take its partitions as soon as it gives them up.
  defaults: { MINUTEBOOK_METRICS_PORT: METRICS_PORT, MINUTEBOOK_STOP_DELAY_MS: '0' },
});

async function run(): Promise<never> {
  const databaseUrl = required(config, 'DATABASE_URL');
  const clickhouseUrl = required(config, 'CLICKHOUSE_URL');
  const metrics = createMetrics('aggregator');
  const database = await openPreparedDatabase(databaseUrl, { poolSize: 8 });
  lifecycle.onClose('postgres', () => database.close());
  const clickhouse = createClickHouse(clickhouseUrl);
  lifecycle.onClose('clickhouse', () => clickhouse.close());
  await refuseUnmigratedClickHouse(clickhouse);
  if (config.KAFKA_BROKERS !== undefined) await refuseUncountedLog(database);
  const log = await openEventLogReader({ ...config, DATABASE_URL: databaseUrl });
  lifecycle.onClose('event log', () => log.close());
  const limits = {
    eventsMax: config.MINUTEBOOK_BATCH_EVENTS_MAX,
    flushDelayMs: config.MINUTEBOOK_FLUSH_DELAY_MS,
  };
  const aggregator = new Aggregator({
    database,
    clickhouse,
    log,
    logger,
    metrics,
    limits,
    filterFalsePositiveRate: config.MINUTEBOOK_FILTER_FALSE_POSITIVE_RATE,
    meterRevertHours: config.MINUTEBOOK_METER_REVERT_HOURS,
    startHeart: (beating) => startHeart(beating, { thread: HEART_THREAD, logger }),
    eventRetentionDays: config.MINUTEBOOK_EVENT_RETENTION_DAYS ?? null,
  });
  await aggregator.start();
  lifecycle.onClose('partitions', () => aggregator.close());
  const probes = {
    event_log: () => log.ping(),
    postgres: () => database.ping(),
    clickhouse: () => aggregator.assertOneServer(),
    schema: () => Promise.all([assertMigrated(database), assertClickHouseMigrated(clickhouse)]),
    log_in_use: () => refuseOtherLog(database, log.identity.logId),
    partitions: () => aggregator.assertNoneHalted(),
  };
  const operations = { readiness: createReadiness(probes, logger), metrics };
  const port = await serveOperations({ config, operations, metrics, lifecycle });
  const { logId, partitionCount } = log.identity;
  logger.info({ metricsPort: port, partitions: partitionCount, log: logId }, 'started');
  return aggregator.failure;
}

try {
  await run();
} catch (error) {
  // The intent of the batch under way stays, and the next owner completes the batch.
  endProgram(error, logger);
}
