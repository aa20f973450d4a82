import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
// The one place that reaches into a program: a crash between two steps cannot be timed from
// outside, so this composes the aggregator as its main does, with a hook that ends the process.
import { KAFKA_SETTINGS } from '../../../event-log/kafka/security.js';
import { Aggregator } from '../../../aggregator/aggregator.js';
import type { InjectFailure } from '../../../aggregator/ownership/run-partition.js';
import { createClickHouse } from '../../../clickhouse/client.js';
import { openEventLogReader } from '../../../event-log/open-log.js';
import { readConfig, required } from '../../../runtime/config.js';
import { endOnUncaughtErrors, endProgram } from '../../../runtime/lifecycle.js';
import { createLog } from '../../../runtime/log.js';
import { createMetrics } from '../../../runtime/metrics.js';
import { createDatabase } from '../../../sql/pool.js';

/**
 * An aggregator that dies or freezes at a step of the protocol: `--step "insert usage" --moment
 * before|after --act kill|freeze`. After a step is before the next one of its partition: what lies
 * between has no effect outside. It says `at <step>` on standard output before it dies or freezes.
 * `--block-rows N` inserts with blocks of N rows, so that a small batch needs more than one.
 */
const { values: stopPoint } = parseArgs({
  options: {
    step: { type: 'string', default: '' },
    moment: { type: 'string', default: 'before' },
    act: { type: 'string', default: 'kill' },
    'block-rows': { type: 'string' },
  },
});

type Command = Parameters<InjectFailure>[0];

function nameOf(command: Command): string {
  return command.kind === 'insert' ? `insert ${command.tables.join(' ')}` : command.kind;
}

/** The partition that has been through the step; what the others do meanwhile tells nothing. */
let passedIn: number | null = null;
let isOver = false;

const stopAtPoint: InjectFailure = (command, partition) => {
  if (isOver) return null;
  const isAtStep = nameOf(command) === stopPoint.step && passedIn === null;
  const isNow = stopPoint.moment === 'before' ? isAtStep : passedIn === partition;
  if (isAtStep) passedIn = partition;
  if (!isNow) return null;
  isOver = true;
  writeSync(1, `at ${stopPoint.step}\n`);
  process.kill(process.pid, stopPoint.act === 'freeze' ? 'SIGSTOP' : 'SIGKILL');
  return null;
};

const config = readConfig(
  [
    'DATABASE_URL',
    'CLICKHOUSE_URL',
    ...KAFKA_SETTINGS,
    'MINUTEBOOK_LOG_LEVEL',
    'MINUTEBOOK_LOG_PARTITIONS',
    'MINUTEBOOK_LOG_REPLICAS',
    'MINUTEBOOK_LOG_RETENTION_HOURS',
    'MINUTEBOOK_PRODUCE_TIMEOUT_MS',
    'MINUTEBOOK_FLUSH_DELAY_MS',
    'MINUTEBOOK_BATCH_EVENTS_MAX',
  ],
  process.env,
);

const logger = createLog('crashing', config.MINUTEBOOK_LOG_LEVEL);
endOnUncaughtErrors(logger);

const blockRows = stopPoint['block-rows'];

async function run(): Promise<never> {
  const databaseUrl = required(config, 'DATABASE_URL');
  const aggregator = new Aggregator({
    database: await createDatabase(databaseUrl, { poolSize: 8 }),
    clickhouse: createClickHouse(
      required(config, 'CLICKHOUSE_URL'),
      blockRows === undefined ? {} : { blockRowsMax: Number(blockRows) },
    ),
    log: await openEventLogReader({ ...config, DATABASE_URL: databaseUrl }),
    logger,
    metrics: createMetrics(),
    limits: {
      eventsMax: config.MINUTEBOOK_BATCH_EVENTS_MAX,
      flushDelayMs: config.MINUTEBOOK_FLUSH_DELAY_MS,
    },
    injectFailure: stopAtPoint,
  });
  await aggregator.start();
  process.on(
    'SIGTERM',
    () =>
      void aggregator
        .close()
        .then(() => delay(50))
        .then(() => process.exit(0)),
  );
  return aggregator.failure;
}

try {
  await run();
} catch (error) {
  // As the product's own program does: an engine that was away at the start is no crash.
  endProgram(error, logger);
}
