import { sql } from 'slonik';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { openPostgresReader } from '../event-log/postgres/reader.js';
import { openPostgresWriter } from '../event-log/postgres/writer.js';
import { test } from '../load-tests/harness/fixtures.js';
import { failOver } from '../load-tests/harness/read-only-database.js';
import { createLog } from '../runtime/log.js';
import { createMetrics } from '../runtime/metrics.js';
import { integerColumn } from '../sql/columns.js';
import { Aggregator } from './aggregator.js';
import { environment, eventOf, recordOf } from './testing/aggregator-world.js';

/** Longer than a few heartbeats of the member, each of which writes. */
const READING_MS = 6_000;
const WAIT = { timeout: 40_000, interval: 100 };

/** Of a log with one partition. */
const requestRecord = (eventId: string) =>
  recordOf(eventOf(eventId, { source: '', timestampMs: 60_000, properties: {} }), 1);

test('an aggregator waits while PostgreSQL only reads, and counts everything once afterwards', async ({
  database: { url, database },
  clickhouse: { client },
}) => {
  await database.asEnvironment(environment, (connection) =>
    connection.query(sql.type(z.unknown())`
      SELECT activate_meter_version('m1', 1, ${environment.tenantId}, ${environment.environmentId},
                                    'request', '[]'::jsonb)`),
  );
  const writer = await openPostgresWriter({ url, partitionCount: 1, produceTimeoutMs: 5_000 });
  const reader = await openPostgresReader({ url, retentionMs: 3_600_000 });
  const aggregator = new Aggregator({
    database,
    clickhouse: client,
    log: reader,
    metrics: createMetrics(),
    logger: createLog('test', 'silent'),
    limits: { eventsMax: 100, flushDelayMs: 20 },
  });
  let failure: unknown = null;
  aggregator.failure.catch((error: unknown) => {
    failure = error;
  });
  const counted = async (): Promise<number> => {
    const [row] = await client.query(
      `SELECT sum(event_count) AS count FROM usage_minute_v1 WHERE meter_id = 'm1'`,
      {},
      z.object({ count: integerColumn }),
    );
    return row?.count ?? 0;
  };
  await aggregator.start();
  await writer.append([requestRecord('a'), requestRecord('b')]);
  await vi.waitFor(async () => expect(await counted()).toBe(2), WAIT);
  await writer.append([requestRecord('c')]);
  await failOver(url, 'reading');
  await expect(writer.append([requestRecord('d')])).rejects.toMatchObject({ isRetryable: true });
  await new Promise((resolve) => setTimeout(resolve, READING_MS));
  expect(failure).toBeNull();
  await failOver(url, 'writing');
  await vi.waitFor(() => writer.append([requestRecord('e')]), WAIT);
  await vi.waitFor(async () => expect(await counted()).toBe(4), WAIT);
  expect(failure).toBeNull();
  await aggregator.close();
  await reader.close();
  await writer.close();
});
