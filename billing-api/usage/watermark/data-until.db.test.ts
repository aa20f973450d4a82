import { randomBytes } from 'node:crypto';
import { sql } from 'slonik';
import { afterAll, describe, expect } from 'vitest';
import { z } from 'zod';
import type { EventLogReader, EventLogWriter } from '../../../event-log/interface/event-log.js';
import { openKafkaReader } from '../../../event-log/kafka/reader.js';
import { openKafkaWriter } from '../../../event-log/kafka/writer.js';
import { openPostgresReader } from '../../../event-log/postgres/reader.js';
import { openPostgresWriter } from '../../../event-log/postgres/writer.js';
import { test } from '../../../load-tests/harness/fixtures.js';
import { obtainKafka } from '../../../load-tests/harness/kafka.js';
import { systemClock } from '../../../runtime/clock.js';
import { DependencyError } from '../../../runtime/failure.js';
import type { Database } from '../../../sql/pool.js';
import { finishPartition } from '../../testing/finish-partition.js';
import { createLogDataUntil, createPostgresDataUntil } from './data-until.js';

const IN_FLIGHT_MS = 8_000;
const NOTED_MS = Date.UTC(2026, 0, 1);
const { kafka, skipReason } = await obtainKafka();
afterAll(() => kafka?.stop());

type OpenLog = { readonly reader: EventLogReader; readonly writer: EventLogWriter };

async function openPostgres(url: string): Promise<OpenLog> {
  const writer = await openPostgresWriter({ url, partitionCount: 2, produceTimeoutMs: 5_000 });
  return { writer, reader: await openPostgresReader({ url, retentionMs: 3_600_000 }) };
}

async function openKafka(): Promise<OpenLog> {
  const topic = `test-${randomBytes(6).toString('hex')}`;
  const at = { brokers: kafka?.brokers ?? '', topic, partitionCount: 2 };
  const writer = await openKafkaWriter({ ...at, produceTimeoutMs: 5_000 });
  return { writer, reader: await openKafkaReader(at) };
}

/** A watermark that is asked anew at every call. */
const watermark = (database: Database, reader: EventLogReader) => () =>
  createLogDataUntil({
    database,
    clock: systemClock,
    inFlightMs: IN_FLIGHT_MS,
    openReader: () => Promise.resolve(reader),
  })();

async function checkWatermark(database: Database, { reader, writer }: OpenLog): Promise<void> {
  const read = watermark(database, reader);
  const { logId } = reader.identity;
  const isNow = async (): Promise<void> => {
    const before = Date.now();
    const until = Number(await read());
    expect(until).toBeGreaterThanOrEqual(before - IN_FLIGHT_MS);
    expect(until).toBeLessThanOrEqual(Date.now() - IN_FLIGHT_MS);
  };
  // Nothing is in the log, so nothing lags.
  await isNow();
  for (const value of ['first', 'second']) await writer.append([{ partition: 1, key: 'k', value }]);
  const times: number[] = [];
  for (const fromOffset of [0, 1]) {
    const query = { partition: 1, fromOffset, recordsMax: 1, bytesMax: 1, waitMs: 5_000 };
    times.push((await reader.read(query))[0]?.appendedAtMs ?? 0);
  }
  expect(await read()).toBe(Number(times[0]) - IN_FLIGHT_MS);
  await finishPartition(database, { logId, partition: 1, nextOffset: 1 });
  expect(await read()).toBe(Number(times[1]) - IN_FLIGHT_MS);
  await finishPartition(database, { logId, partition: 1, nextOffset: 2 });
  await isNow();
}

const noteCounted = ({ slonik }: Database, before: string): Promise<unknown> =>
  slonik.query(sql.type(z.unknown())`SELECT note_counted_events(${before})`);

/** A reader that says how far the log goes, and fails the test when a record is asked for. */
function readerOf(ends: number[]): EventLogReader {
  const bounds = (partition: number) =>
    Promise.resolve({ startOffset: 0, endOffset: ends[partition] ?? 0 });
  const unwanted = (): never => {
    throw new Error('no record may be read');
  };
  const identity = { logId: 'log', partitionCount: ends.length };
  return { identity, bounds, read: unwanted, release: unwanted } as unknown as EventLogReader;
}

async function closeLog({ reader, writer }: OpenLog): Promise<void> {
  await reader.close();
  await writer.close();
}

describe('the watermark of a log', () => {
  test('is the append time of the oldest unfinished record, else now', async ({ database }) => {
    const log = await openPostgres(database.url);
    await checkWatermark(database.database, log);
    await closeLog(log);
  });

  test('of a partition that lags is known without reading its records', async ({ database }) => {
    const ends = [5, 5];
    let nowMs = 1_000_000;
    let openings = 0;
    const options = {
      database: database.database,
      clock: { now: () => nowMs },
      inFlightMs: IN_FLIGHT_MS,
      openReader: () => {
        openings += 1;
        return Promise.resolve(reader);
      },
    };
    const reader = readerOf(ends);
    const ask = async (): Promise<number> => Number(await createLogDataUntil(options)());
    await finishPartition(database.database, { logId: 'log', partition: 0, nextOffset: 5 });
    // Its last batch begins at 400,000; record 4 is not finished.
    const at = { logId: 'log', partition: 1, nextOffset: 4 };
    await finishPartition(database.database, { ...at, appendedAtMs: 400_000 });
    expect(await ask()).toBe(400_000 - IN_FLIGHT_MS);

    const read = createLogDataUntil(options);
    await finishPartition(database.database, { ...at, nextOffset: 5 });
    expect(await read()).toBe(1_000_000 - IN_FLIGHT_MS);
    // Both get a new record, and only that of partition 0 is counted. Partition 1 had counted all
    // of its records at 1,000,000, so what it has not counted came later.
    nowMs = 1_002_000;
    ends.fill(6);
    await finishPartition(database.database, { logId: 'log', partition: 0, nextOffset: 6 });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await read()).toBe(1_000_000 - IN_FLIGHT_MS);
    // What is read meanwhile is for the next who asks; nobody waits.
    await finishPartition(database.database, { ...at, nextOffset: 6 });
    await new Promise((resolve) => setTimeout(resolve, 600));
    await read();
    await expect.poll(read).toBe(1_002_000 - IN_FLIGHT_MS);
    expect(openings).toBeLessThanOrEqual(5);
  });

  test('is what aggregators have noted, when that is later', async ({ database }) => {
    const { reader, writer } = await openPostgres(database.url);
    const { database: own } = database;
    const inFlightMs = IN_FLIGHT_MS;
    let [nowMs, openings] = [NOTED_MS + IN_FLIGHT_MS, 0];
    const ofLog = () =>
      createLogDataUntil({
        database: own,
        clock: { now: () => nowMs },
        inFlightMs,
        openReader: () => {
          openings += 1;
          return Promise.resolve(reader);
        },
      })();
    const ofPostgres = createPostgresDataUntil(own, inFlightMs);
    await writer.append([{ partition: 1, key: 'k', value: 'not counted' }]);
    const appended = Number(await ofPostgres());
    await noteCounted(own, '2026-01-01T00:00:00Z');
    expect(await ofPostgres()).toBe(appended);
    // The log need not be asked for what it cannot say better.
    expect([await ofLog(), openings]).toEqual([NOTED_MS, 0]);
    nowMs += 1;
    expect([await ofLog(), openings]).toEqual([NOTED_MS + 1, 1]);
    await noteCounted(own, new Date(appended + 5).toISOString());
    expect(await ofPostgres()).toBe(appended + 5);
    expect(await ofLog()).toBe(appended + 5);
    await closeLog({ reader, writer });
  });

  test('stays at what was known when the log does not answer', async ({ database }) => {
    const { reader, writer } = await openPostgres(database.url);
    let isAway = true;
    const read = createLogDataUntil({
      database: database.database,
      clock: systemClock,
      inFlightMs: IN_FLIGHT_MS,
      openReader: () => {
        const outage = { dependency: 'event-log', isRetryable: true } as const;
        if (isAway) return Promise.reject(new DependencyError('away', outage));
        return Promise.resolve(reader);
      },
    });
    expect(await read()).toBeNull();
    isAway = false;
    await expect.poll(read, { timeout: 10_000 }).not.toBeNull();
    const known = await read();
    isAway = true;
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await read()).toBe(known);
    await closeLog({ reader, writer });
  });
});

describe.skipIf(kafka === null)(`the watermark of Kafka ${skipReason ?? ''}`, () => {
  test('is the append time of the oldest unfinished record, else now', async ({ database }) => {
    const log = await openKafka();
    await checkWatermark(database.database, log);
    await closeLog(log);
  });
});
