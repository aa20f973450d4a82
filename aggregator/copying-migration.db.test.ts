import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.js';
import { migrateClickHouse } from '../clickhouse/migrate.js';
import type { EventLogReader, EventLogWriter } from '../event-log/interface/event-log.js';
import { openPostgresReader } from '../event-log/postgres/reader.js';
import { openPostgresWriter } from '../event-log/postgres/writer.js';
import { test as base } from '../load-tests/harness/fixtures.js';
import { createLog } from '../runtime/log.js';
import { createMetrics } from '../runtime/metrics.js';
import { MigrationRefused, migrationsFolder } from '../runtime/migrations.js';
import { integerColumn } from '../sql/columns.js';
import { hashText } from '../runtime/hash-text.js';
import { Aggregator } from './aggregator.js';
import { decodeRecord } from './fold/candidate.js';
import { encodeBatch } from './fold/encode-rows.js';
import { foldBatch } from './fold/fold-batch.js';
import { indexMeters } from './fold/meter-index.js';
import { insertBatches } from './write/insert-batches.js';
import { UsageWriter } from './write/usage-writer.js';
import { eventOf, recordOf } from './testing/aggregator-world.js';

const WAIT = { timeout: 30_000, interval: 50 };
/** Between copy and exchange there is time for a batch. */
const COPYING = `
  CREATE TABLE IF NOT EXISTS events_copy AS events_v1;
  TRUNCATE TABLE events_copy;
  INSERT INTO events_copy SELECT * FROM events_v1;
  SELECT sleep(2);
  EXCHANGE TABLES events_copy AND events_v1;
  DROP TABLE events_copy;`;

/** Of a log with one partition. */
const requestRecord = (eventId: string) =>
  recordOf(eventOf(eventId, { source: '', timestampMs: 60_000, properties: {} }), 1);

async function storedEvents(clickhouse: ClickHouse): Promise<number> {
  const select = 'SELECT count() AS count FROM events_v1';
  const [row] = await clickhouse.query(select, {}, z.object({ count: integerColumn }));
  return row?.count ?? 0;
}

type World = {
  readonly clickhouse: ClickHouse;
  readonly writer: EventLogWriter;
  readonly reader: EventLogReader;
  readonly startAggregator: () => Promise<Aggregator>;
  /** Applies a migration that copies all events. */
  readonly migrate: () => Promise<readonly string[]>;
  /** Resolves when the migration has copied and not yet exchanged. */
  readonly untilCopied: () => Promise<void>;
};

const test = base.extend<{ readonly world: World }>({
  world: async ({ database: { url, database }, clickhouse, directory }, use) => {
    const { client } = clickhouse;
    const folder = join(directory, 'migrations');
    await cp(migrationsFolder('clickhouse'), folder, { recursive: true });
    await writeFile(join(folder, '9999_copy.sql'), COPYING);
    const writer = await openPostgresWriter({ url, partitionCount: 1, produceTimeoutMs: 5_000 });
    const reader = await openPostgresReader({ url, retentionMs: 3_600_000 });
    const aggregators: Aggregator[] = [];
    const startAggregator = async (): Promise<Aggregator> => {
      const aggregator = new Aggregator({
        database,
        clickhouse: client,
        log: reader,
        metrics: createMetrics(),
        logger: createLog('test', 'silent'),
        limits: { eventsMax: 100, flushDelayMs: 20 },
      });
      aggregators.push(aggregator);
      await aggregator.start();
      return aggregator;
    };
    const untilCopied = async (): Promise<void> => {
      const select = `SELECT count() AS count FROM system.processes
        WHERE current_database = currentDatabase() AND query LIKE '%SELECT sleep(2)%'
          AND query NOT LIKE '%system.processes%'`;
      await vi.waitFor(async () => {
        const [row] = await client.query(select, {}, z.object({ count: integerColumn }));
        expect(row?.count).toBe(1);
      }, WAIT);
    };
    const migrate = () => migrateClickHouse(clickhouse.url, url, folder);
    await use({ clickhouse: client, writer, reader, startAggregator, migrate, untilCopied });
    await Promise.all(aggregators.map((aggregator) => aggregator.close()));
    await reader.close();
    await writer.close();
  },
});

describe('a migration that copies rows', () => {
  test('is refused while an aggregator runs, and what it writes stays', async ({ world }) => {
    const { clickhouse, writer } = world;
    await world.startAggregator();
    await writer.append([requestRecord('a')]);
    await vi.waitFor(async () => expect(await storedEvents(clickhouse)).toBe(1), WAIT);
    const ended = world.migrate().catch((error: unknown) => error);
    // Long enough for it to copy, and less than it pauses before the exchange.
    await delay(1_000);
    await writer.append([requestRecord('b')]);
    await vi.waitFor(async () => expect(await storedEvents(clickhouse)).toBe(2), WAIT);
    const end = await ended;
    expect(await storedEvents(clickhouse)).toBe(2);
    expect(end).toBeInstanceOf(MigrationRefused);
    expect(String(end)).toContain('Stop every aggregator');
  });

  test('keeps out an aggregator that starts meanwhile, and loses nothing of it', async ({
    world,
  }) => {
    const { clickhouse, writer } = world;
    await writer.append([requestRecord('a')]);
    const migrating = world.migrate();
    await world.untilCopied();
    const starting = world.startAggregator();
    await delay(1_000);
    expect(await storedEvents(clickhouse)).toBe(0);
    expect(await migrating).toEqual(['9999_copy.sql']);
    await starting;
    await vi.waitFor(async () => expect(await storedEvents(clickhouse)).toBe(1), WAIT);
  });

  test('refuses the insert of an owner that was paused', async ({ world }) => {
    const { logId } = world.reader.identity;
    await new UsageWriter(world.clickhouse, logId, 0).raiseGate(1);
    const range = { logId, partition: 0, start: 0, end: 1 };
    const undecodable = decodeRecord({ offset: 0, appendedAtMs: 1_000, value: '?' }, hashText);
    const folded = foldBatch([undecodable], new Map(), indexMeters([], hashText));
    const batch = { range, encoded: encodeBatch(range, folded) };
    const migrating = world.migrate();
    await world.untilCopied();
    const insert = await insertBatches(world.clickhouse, 'deadLetters', [{ epoch: 1, batch }]);
    expect(await migrating).toEqual(['9999_copy.sql']);
    expect(insert.outcome).toBe('fenced');
  });
});
