import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { DAY_MS, formatInstant, type InstantMs } from '../../contract/instant.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createLog } from '../../runtime/log.js';
import { integerColumn } from '../../sql/columns.js';
import {
  createMeter,
  environment,
  eventOf,
  readUsage,
  send,
  test,
  totals,
  WAIT,
  type World,
} from '../testing/aggregator-world.js';
import { expireEvents, type Alone } from './expire-events.js';
import { createExpiredMonths, readRawEventsBegin } from './expired-months.js';
import { turnRetention } from './turn-retention.js';
import { createStoredMonths, nextMonth } from './stored-months.js';

const NOW = Date.now();
const today = new Date(NOW);
/** The first instant of the month that lies this many months before the present one. */
const month = (before: number): InstantMs =>
  Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - before);
const RETENTION_DAYS = 35;
const signal = new AbortController().signal;
const quiet = createLog('test', 'silent');

/** Appends events as if the log had done so at that time, and waits until they are counted. */
async function sendAt(world: World, ids: readonly string[], atMs: InstantMs): Promise<void> {
  const before = await totals(world.clickhouse);
  await send(
    world.writer,
    ids.map((id) => eventOf(id)),
  );
  await ownerOf(world.database).query(sql.type(z.unknown())`
    UPDATE event_log_batches SET appended_at = ${formatInstant(atMs)}::timestamptz
    WHERE appended_at > now() - interval '1 hour'`);
  const aggregator = await world.startAggregator();
  await vi.waitFor(async () => {
    const { events, duplicates } = await totals(world.clickhouse);
    expect(events + duplicates).toBe(before.events + before.duplicates + ids.length);
  }, WAIT);
  await aggregator.close();
}

async function turn(world: World, removalDelaySeconds = 0): Promise<void> {
  const { database, clickhouse, reader: log } = world;
  const terms = { retentionDays: RETENTION_DAYS, removalDelaySeconds };
  const needs = { database, clickhouse, log, logger: quiet, ...terms };
  const beginMs = await turnRetention(needs, Date.now(), signal);
  expect(beginMs).toBe(await readRawEventsBegin(database));
}

const expiredRow = z.object({ expired: integerColumn });

async function expiredEvents({ clickhouse }: World): Promise<number> {
  const [row] = await clickhouse.query(
    'SELECT sum(event_count) AS expired FROM expired_events_v1 FINAL',
    {},
    expiredRow,
  );
  return row?.expired ?? 0;
}

const ids = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

describe('retention of raw events', () => {
  test('removes whole months, keeps usage and ids, and starts again behind them', async ({
    world,
  }) => {
    await createMeter(world.database, '[]');
    await sendAt(world, ids('old', 30), month(4) + DAY_MS);
    await sendAt(world, ids('older', 10), month(4) + 2 * DAY_MS);
    expect(await readRawEventsBegin(world.database)).toBeNull();
    // The last batch of each partition lies in the month that expires.
    await turn(world, 600);
    expect(await readRawEventsBegin(world.database)).toBe(month(3));
    expect([await expiredEvents(world), (await totals(world.clickhouse)).events]).toEqual([40, 40]);
    await turn(world);
    expect(await totals(world.clickhouse)).toMatchObject({ events: 0, ids: 40, usage: 40 });
    const aggregator = await world.startAggregator();
    await send(
      world.writer,
      [...ids('old', 5), ...ids('new', 7)].map((id) => eventOf(id)),
    );
    await vi.waitFor(async () => {
      expect(await totals(world.clickhouse)).toEqual({
        events: 7,
        ids: 47,
        usage: 47,
        duplicates: 5,
      });
    }, WAIT);
    expect(aggregator.halted.size).toBe(0);
    expect(await readUsage(world)).toBe(47);
  });

  test('still notices events that are missing and have not expired', async ({ world }) => {
    await sendAt(world, ids('old', 10), month(4) + DAY_MS);
    await turn(world);
    await sendAt(world, ids('late', 10), month(1) + DAY_MS);
    await world.clickhouse.command('TRUNCATE TABLE events_v1');
    const aggregator = await world.startAggregator();
    await vi.waitFor(() => {
      expect(new Set(aggregator.halted.values())).toEqual(new Set(['last_batch_missing']));
    }, WAIT);
  });

  test('lets a month expire when all of it is as old as the retention, by the slower clock', async ({
    world,
  }) => {
    await sendAt(world, ids('old', 4), month(5));
    await sendAt(world, ids('next', 3), month(4));
    const months = createExpiredMonths(world.database);
    const alone: Alone = (work) => work(() => Promise.resolve());
    const stores = { months, stored: createStoredMonths(world.clickhouse), alone };
    const turnAt = (nowMs: InstantMs) =>
      expireEvents(
        stores,
        {
          retentionDays: RETENTION_DAYS,
          nowMs,
          removalDelaySeconds: 0,
          finishedTo: () => Promise.resolve(NOW),
        },
        quiet,
      );
    const dueMs = month(4) + RETENTION_DAYS * DAY_MS;
    await turnAt(dueMs - 1);
    expect(await readRawEventsBegin(world.database)).toBeNull();
    await turnAt(dueMs);
    expect(await readRawEventsBegin(world.database)).toBe(month(4));
    expect((await totals(world.clickhouse)).events).toBe(3);
    // A clock of this machine that is years ahead removes nothing of what PostgreSQL's keeps.
    await sendAt(world, ids('kept', 2), month(0));
    await turnAt(NOW + 3_650 * DAY_MS);
    expect(await readRawEventsBegin(world.database)).toBe(month(3));
    expect(await totals(world.clickhouse)).toMatchObject({ events: 2, ids: 9 });
  });

  test('removes what a process that was killed has left, and counts it once', async ({ world }) => {
    await sendAt(world, ids('old', 20), month(4) + DAY_MS);
    const months = createExpiredMonths(world.database);
    const stored = createStoredMonths(world.clickhouse);
    // Killed after it has counted, and again after the month has expired.
    await stored.count(month(4));
    const environments = await stored.count(month(4));
    expect(environments).toEqual([environment]);
    expect(await months.expire(month(4), environments)).toBe(true);
    await Promise.all([turn(world), turn(world)]);
    await turn(world);
    expect([await expiredEvents(world), (await totals(world.clickhouse)).events]).toEqual([20, 0]);
    // A count that comes too late finds nothing and changes nothing.
    await stored.count(month(4));
    expect(await expiredEvents(world)).toBe(20);
  });

  test('waits for records that are not counted, and for meters that are being applied', async ({
    world,
  }) => {
    await sendAt(world, ids('old', 6), month(4) + DAY_MS);
    await createMeter(world.database, '[]');
    await turn(world);
    expect(await readRawEventsBegin(world.database)).toBeNull();
    const aggregator = await world.startAggregator();
    await vi.waitFor(async () => expect(await readUsage(world)).toBe(6), WAIT);
    await aggregator.close();
    await send(world.writer, [eventOf('waiting')]);
    const months = createExpiredMonths(world.database);
    const alone: Alone = (work) => work(() => Promise.resolve());
    const stores = { months, stored: createStoredMonths(world.clickhouse), alone };
    const terms = { retentionDays: RETENTION_DAYS, nowMs: NOW, removalDelaySeconds: 0 };
    // Not known to be finished, and finished up to a day behind the end of the month.
    for (const finishedMs of [null, month(3) + DAY_MS - 1]) {
      const finishedTo = () => Promise.resolve(finishedMs);
      await expireEvents(stores, { ...terms, finishedTo }, quiet);
      expect(await readRawEventsBegin(world.database)).toBeNull();
    }
    const { logId, partitionCount } = world.reader.identity;
    const ends = await Promise.all(
      Array.from({ length: partitionCount }, async (_, partition) => {
        return (await world.reader.bounds(partition)).endOffset;
      }),
    );
    expect(await months.isFinished(logId, ends)).toBe(false);
    const again = await world.startAggregator();
    await vi.waitFor(async () => expect(await months.isFinished(logId, ends)).toBe(true), WAIT);
    await again.close();
    // A begun batch of a log that was replaced may still bring events of any month.
    await ownerOf(world.database).query(sql.type(z.unknown())`
      INSERT INTO aggregator_checkpoints (log, partition, next_offset, intent_end, catalog_version,
        min_version, digest)
      SELECT 'pg-earlier', 0, 0, 5, catalog_version, min_version, 'digest'
      FROM aggregator_checkpoints LIMIT 1`);
    expect(await months.isFinished(logId, ends)).toBe(false);
    await ownerOf(world.database).query(sql.type(z.unknown())`
      DELETE FROM aggregator_checkpoints WHERE log = 'pg-earlier'`);
    await turn(world);
    expect(await readRawEventsBegin(world.database)).toBe(month(3));
    expect(nextMonth(month(4))).toBe(month(3));
  });

  test('applies a new meter to what is left, and says from when on it counts', async ({
    world,
  }) => {
    await sendAt(world, ids('old', 10), month(4) + DAY_MS);
    await sendAt(world, ids('kept', 5), month(0));
    // Expired and not removed yet: nobody relies on these events any more.
    await turn(world, 600);
    await createMeter(world.database, '[]', 'm2');
    const aggregator = await world.startAggregator();
    await vi.waitFor(async () => expect(await readUsage(world, 'm2')).toBe(5), WAIT);
    await aggregator.close();
    const shown = await ownerOf(world.database).one(
      sql.type(z.object({ counts_from: z.string().nullable() }))`
        SELECT visible_backfill(b) ->> 'counts_from' AS counts_from FROM meter_backfills AS b`,
    );
    expect(shown.counts_from).toBe(formatInstant(month(3)));
  });
});
