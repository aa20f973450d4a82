import { sql } from 'slonik';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { KAFKA_SETTINGS } from '../../event-log/kafka/security.js';
import { eventKey, partitionOf } from '../../contract/event-key.js';
import { encodeEventRecord } from '../../contract/usage-event.js';
import type { EventLogWriter } from '../../event-log/interface/event-log.js';
import { openEventLogWriter } from '../../event-log/open-log.js';
import { readConfig } from '../../runtime/config.js';
import { integerColumn } from '../../sql/columns.js';
import { startAggregatorProcess, type AggregatorWorld } from '../harness/aggregator-world.js';
import type { StartedProgram } from '../harness/start-program.js';

const PARTITIONS = 6;
const WAIT = { timeout: 60_000, interval: 100 };
const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };

/** Sends events with these numbers as ids, one record each. */
async function send(writer: EventLogWriter, from: number, below: number): Promise<void> {
  const records = Array.from({ length: below - from }, (_, index) => {
    const eventId = `id-${from + index}`;
    const event = {
      eventId,
      eventName: 'request',
      externalCustomerId: 'acme',
      customerId: null,
      source: 'web',
      timestampMs: 1_000,
      isTimestampGiven: true,
      properties: {},
    };
    const key = eventKey(environment, eventId);
    const value = encodeEventRecord({
      environment,
      receivedAtMs: 1_000,
      events: [event],
    });
    return { partition: partitionOf(key, PARTITIONS), key, value };
  });
  await writer.append(records);
}

async function sharesOf({ database }: AggregatorWorld): Promise<readonly number[]> {
  const rows = await database.slonik.any(sql.type(z.object({ partitions: integerColumn }))`
    SELECT count(*) AS partitions FROM aggregator_checkpoints WHERE owner IS NOT NULL
    GROUP BY owner`);
  return rows.map(({ partitions }) => partitions).sort((left, right) => left - right);
}

async function expectCounted({ clickhouse }: AggregatorWorld, events: number): Promise<void> {
  const row = z.object({ events: integerColumn, ids: integerColumn });
  await vi.waitFor(async () => {
    const select = 'SELECT count() AS events, uniqExact(event_id) AS ids FROM events_v1';
    const [found] = await clickhouse.query(select, {}, row);
    expect(found).toEqual({ events, ids: events });
  }, WAIT);
}

async function expectShares(world: AggregatorWorld, shares: readonly number[]): Promise<void> {
  await vi.waitFor(async () => {
    expect(await sharesOf(world)).toEqual(shares);
  }, WAIT);
}

async function expectNoneHalted(processes: readonly StartedProgram[]): Promise<void> {
  for (const process of processes) {
    expect([...(await process.metric('minutebook_partitions_halted')).values()]).toEqual([0]);
  }
}

/** Pause until the partitions have moved, waking, a planned leave: every event counts once. */
export async function sharesThroughPauseAndLeave(
  world: AggregatorWorld,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const given = { MINUTEBOOK_LOG_PARTITIONS: String(PARTITIONS), ...settings };
  const config = readConfig(
    [
      ...KAFKA_SETTINGS,
      'MINUTEBOOK_LOG_PARTITIONS',
      'MINUTEBOOK_LOG_REPLICAS',
      'MINUTEBOOK_LOG_RETENTION_HOURS',
      'MINUTEBOOK_PRODUCE_TIMEOUT_MS',
    ],
    given,
  );
  const writer = await openEventLogWriter({ ...config, DATABASE_URL: world.databaseUrl });
  const first = await startAggregatorProcess(world, given);
  const second = await startAggregatorProcess(world, given);
  const both = [first, second];
  try {
    await expectShares(world, [3, 3]);
    await send(writer, 0, 300);
    await expectCounted(world, 300);
    first.child.kill('SIGSTOP');
    await send(writer, 200, 600);
    await expectShares(world, [6]);
    await expectCounted(world, 600);
    first.child.kill('SIGCONT');
    await send(writer, 500, 900);
    await expectShares(world, [3, 3]);
    await expectCounted(world, 900);
    await expectNoneHalted(both);
    await first.stop();
    await expectShares(world, [6]);
    await send(writer, 800, 1_000);
    await expectCounted(world, 1_000);
    await expectNoneHalted([second]);
  } finally {
    first.child.kill('SIGCONT');
    for (const { child } of both) child.kill('SIGKILL');
    await writer.close();
  }
}
