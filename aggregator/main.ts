import { setFlagsFromString } from 'node:v8';
import { KAFKA_SETTINGS } from '../event-log/kafka/security.js';
import { createClickHouse } from '../clickhouse/client.js';
import {
  assertClickHouseMigrated,
  refuseUnmigratedClickHouse,
} from '../clickhouse/prepared-clickhouse.js';
import { openEventLogReader } from '../event-log/open-log.js';
import { required } from '../runtime/config.js';
import { messageOf } from '../runtime/failure.js';
import { listenOn } from '../runtime/http/listen-on.js';
import { ProgramServer, serveWith } from '../runtime/http/program-server.js';
import { endProgram } from '../runtime/lifecycle.js';
import { createMetrics } from '../runtime/metrics.js';
import { operationalPage } from '../runtime/operational-pages.js';
import { openProgram } from '../runtime/program.js';
import { createReadiness } from '../runtime/readiness.js';
import { outageOf } from '../sql/outage.js';
import { assertMigrated, openPreparedDatabase } from '../sql/prepared-database.js';
import { Aggregator } from './aggregator.js';

// Batches leave much garbage, and V8 lets a heap grow to four times its size before it collects it.
// With twice its size the process takes half the memory at nearly the same rate
// (docs/measurements/memory.md).
setFlagsFromString('--heap-growing-percent=100');

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
    'MINUTEBOOK_METRICS_PORT',
  ],
  explain: outageOf,
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
  const log = await openEventLogReader({ ...config, DATABASE_URL: databaseUrl }, (error) => {
    logger.warn(
      { error: messageOf(error) },
      'old records of the log could not be removed; tried again later',
    );
  });
  lifecycle.onClose('event log', () => log.close());
  const limits = {
    eventsMax: config.MINUTEBOOK_BATCH_EVENTS_MAX,
    flushDelayMs: config.MINUTEBOOK_FLUSH_DELAY_MS,
  };
  const aggregator = new Aggregator({
    ...{ database, clickhouse, log, logger, metrics, limits },
    filterFalsePositiveRate: config.MINUTEBOOK_FILTER_FALSE_POSITIVE_RATE,
    meterRevertHours: config.MINUTEBOOK_METER_REVERT_HOURS,
  });
  await aggregator.start();
  lifecycle.onClose('partitions', () => aggregator.close());
  const probes = {
    event_log: () => log.ping(),
    postgres: () => database.ping(),
    clickhouse: () => clickhouse.ping(),
    schema: () => Promise.all([assertMigrated(database), assertClickHouseMigrated(clickhouse)]),
    partitions: () => aggregator.assertNoneHalted(),
  };
  const operations = { readiness: createReadiness(probes, logger), metrics };
  const server = new ProgramServer({
    handler: serveWith((request, response) => {
      void operationalPage(request.url?.split('?', 1)[0] ?? '', operations).then((page) => {
        response.writeHead(page?.status ?? 404, { 'content-type': page?.type ?? 'text/plain' });
        response.end(page?.body);
      });
    }),
    metrics,
  });
  const port = config.MINUTEBOOK_METRICS_PORT;
  await listenOn(server, { host: '127.0.0.1', port, setting: 'MINUTEBOOK_METRICS_PORT' });
  lifecycle.onClose('metrics server', () => server.close());
  logger.info({ partitions: log.identity.partitionCount, log: log.identity.logId }, 'started');
  return aggregator.failure;
}

try {
  await run();
} catch (error) {
  // The intent of the batch under way stays, and the next owner completes the batch.
  endProgram(error, logger);
}
