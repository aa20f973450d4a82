import { sql } from 'slonik';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { eventKey, partitionOf } from '../../contract/event-key.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import type {
  AppendRequest,
  EventLogReader,
  EventLogWriter,
} from '../../event-log/interface/event-log.js';
import { openPostgresReader } from '../../event-log/postgres/reader.js';
import { openPostgresWriter } from '../../event-log/postgres/writer.js';
import { test as base } from '../../load-tests/harness/fixtures.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics, type Metrics } from '../../runtime/metrics.js';
import { assertPresent } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { Aggregator } from '../aggregator.js';
import type { InjectFailure } from '../ownership/run-partition.js';

export const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };
export const PARTITIONS = 2;
const EVENTS_MAX = 40;

export type World = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly writer: EventLogWriter;
  readonly reader: EventLogReader;
  /** Starts an aggregator of its own reader, clients apart, as another process would have. */
  readonly startAggregator: (
    injectFailure?: InjectFailure,
    log?: EventLogReader,
    metrics?: Metrics,
  ) => Promise<Aggregator>;
};

/**
 * An engine-backed world: the Postgres log, both databases, and aggregators closed after the test.
 */
export const test = base.extend<{ readonly world: World }>({
  world: async ({ database: { url, database }, clickhouse: { client } }, use) => {
    const writer = await openPostgresWriter({
      url,
      partitionCount: PARTITIONS,
      produceTimeoutMs: 5_000,
    });
    const reader = await openPostgresReader({ url, retentionMs: 3_600_000 });
    const aggregators: Aggregator[] = [];
    const startAggregator: World['startAggregator'] = async (
      injectFailure,
      log = reader,
      metrics = createMetrics(),
    ) => {
      const aggregator = new Aggregator({
        database,
        clickhouse: client,
        log,
        logger: createLog('test', 'silent'),
        metrics,
        limits: { eventsMax: EVENTS_MAX, flushDelayMs: 20 },
        haltTimes: { logDoubtedMs: 1_500, logAskedMs: 100, lookMs: 500, mendedMs: 200 },
        ...(injectFailure === undefined ? {} : { injectFailure, retryDelayMs: () => 1 }),
      });
      aggregators.push(aggregator);
      await aggregator.start();
      return aggregator;
    };
    await use({ database, clickhouse: client, writer, reader, startAggregator });
    await Promise.all(aggregators.map((aggregator) => aggregator.close()));
    await reader.close();
    await writer.close();
  },
});

export function eventOf(id: string, changes: Partial<UsageEvent> = {}): UsageEvent {
  return {
    eventId: id,
    eventName: 'request',
    externalCustomerId: 'acme',
    customerId: null,
    source: 'web',
    timestampMs: Date.UTC(2026, 0, 1, 10, 0, 30),
    isTimestampGiven: true,
    properties: { method: 'GET' },
    ...changes,
  };
}

export function recordOf(event: UsageEvent, partitionCount = PARTITIONS): AppendRequest {
  const key = eventKey(environment, event.eventId);
  const value = encodeEventRecord({ environment, receivedAtMs: 1_000, events: [event] });
  return { partition: partitionOf(key, partitionCount), key, value };
}

/** Appends events one record each, as single requests do. */
export async function send(writer: EventLogWriter, events: readonly UsageEvent[]): Promise<void> {
  await writer.append(events.map((event) => recordOf(event)));
}

export async function createMeter(
  database: Database,
  filters: string,
  meterId = 'm1',
): Promise<void> {
  await database.asEnvironment(environment, (connection) =>
    connection.query(sql.type(z.unknown())`
      SELECT activate_meter_version(${meterId}, 1, ${environment.tenantId}, ${environment.environmentId},
                                    'request', ${filters}::jsonb)`),
  );
}

const totalsRow = z.object({
  events: integerColumn,
  ids: integerColumn,
  usage: integerColumn,
  duplicates: integerColumn,
});

export async function totals(clickhouse: ClickHouse): Promise<z.output<typeof totalsRow>> {
  const rows = await clickhouse.query(
    `SELECT (SELECT count() FROM events_v1) AS events, (SELECT count() FROM event_ids_v1) AS ids,
       (SELECT sum(event_count) FROM usage_minute_v1
         WHERE NOT startsWith(meter_id, '#')) AS usage,
       (SELECT count() FROM event_duplicates_v1 FINAL) AS duplicates`,
    {},
    totalsRow,
  );
  return assertPresent(rows[0], 'the row of a SELECT without FROM');
}

/** Events that batches say they decoded. */
export async function acceptedEvents(clickhouse: ClickHouse): Promise<number> {
  const rows = await clickhouse.query(
    `SELECT sum(event_count) AS found FROM usage_minute_v1 WHERE meter_id = '#accepted'`,
    {},
    z.object({ found: integerColumn }),
  );
  return rows[0]?.found ?? 0;
}

/** Sources whose batches were not all written once, from the first to the last. */
export async function wrongMarkers(clickhouse: ClickHouse): Promise<readonly string[]> {
  const rows = await clickhouse.query(
    `SELECT source FROM usage_minute_v1 WHERE meter_id = '#batch' GROUP BY source
     HAVING sum(event_count) != toInt64(max(value_max)) - toInt64(min(value_min))`,
    {},
    z.object({ source: z.string() }),
  );
  return rows.map(({ source }) => source);
}

export async function eventsOfPartition(
  clickhouse: ClickHouse,
  partition: number,
): Promise<number> {
  const rows = await clickhouse.query(
    'SELECT count() AS found FROM events_v1 WHERE log_partition = {partition:UInt32}',
    { partition },
    z.object({ found: integerColumn }),
  );
  return rows[0]?.found ?? 0;
}

export const WAIT = { timeout: 50_000, interval: 100 };

/** What a reader sees: the generations that the pointer of the meter names. */
export async function readUsage(
  world: Pick<World, 'database' | 'clickhouse'>,
  meterId = 'm1',
): Promise<number> {
  const pointer = await ownerOf(world.database).one(
    sql.type(z.object({ generations: z.array(z.string()) }))`
      SELECT read_generations::text[] AS generations FROM meter_versions WHERE meter_id = ${meterId}`,
  );
  const rows = await world.clickhouse.query(
    `SELECT sum(event_count) AS found FROM usage_minute_v1
     WHERE meter_id = {meterId:String} AND has({generations:Array(UInt64)}, generation)`,
    { meterId, generations: pointer.generations.map(Number) },
    z.object({ found: integerColumn }),
  );
  return rows[0]?.found ?? 0;
}
