import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import {
  createMeter,
  eventOf,
  readUsage,
  recordOf,
  send,
  test as base,
  totals,
  WAIT,
  wrongMarkers,
  type World,
} from '../../aggregator/testing/aggregator-world.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';

type TakeOver = () => Promise<{ readonly status: number | null; readonly said: string }>;

const test = base.extend<{ takeOver: TakeOver }>({
  takeOver: async ({ database, clickhouse }, use) => {
    const servers = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
    await use(() => runVerb(servers, 'log', 'take-over'));
  },
});

const run = sql.type(z.unknown());
const ids = Array.from({ length: 100 }, (_, number) => `event ${number}`);
/** Ids of a partition, so that its offsets are those of the events. */
const idsOf = (partition: number): readonly string[] =>
  ids.filter((id) => recordOf(eventOf(id)).partition === partition);

/** Counts what the log holds, with one aggregator from its start to its end. */
async function count(world: World, sent: readonly string[], stored: number): Promise<void> {
  const aggregator = await world.startAggregator();
  for (const id of sent) await send(world.writer, [eventOf(id)]);
  await vi.waitFor(async () => {
    const { events, ids: found } = await totals(world.clickhouse);
    expect({ events, found, read: await readUsage(world) }).toEqual({
      events: stored,
      found: stored,
      read: stored,
    });
  }, WAIT);
  expect([...aggregator.halted]).toEqual([]);
  await aggregator.close();
  expect(await wrongMarkers(world.clickhouse)).toEqual([]);
}

const keep = (world: World) =>
  ownerOf(world.database).query(run`CREATE TABLE kept AS SELECT * FROM aggregator_checkpoints`);

/** As a failover to a standby without the last commits. */
const setBack = (world: World) =>
  ownerOf(world.database).query(run`
    UPDATE aggregator_checkpoints AS row
    SET epoch = kept.epoch, next_offset = kept.next_offset, intent_end = kept.intent_end, digest = kept.digest,
        catalog_version = kept.catalog_version, last_batch_start = kept.last_batch_start,
        last_batch_rows = kept.last_batch_rows, last_batch_appended_at = kept.last_batch_appended_at
    FROM kept WHERE row.log = kept.log AND row.partition = kept.partition`);

async function expectHalted(world: World, partitions: readonly number[]): Promise<void> {
  const aggregator = await world.startAggregator();
  await vi.waitFor(() => {
    expect(aggregator.halted).toEqual(
      new Map(partitions.map((partition) => [partition, 'rows_beyond_checkpoint'])),
    );
  }, WAIT);
  await aggregator.close();
}

describe('minutebook log take-over', () => {
  test('goes on behind whole batches whose checkpoints were lost, and counts nothing twice', async ({
    world,
    takeOver,
  }) => {
    await createMeter(world.database, '[]');
    const [zero, one] = [idsOf(0), idsOf(1)];
    await count(world, [...zero.slice(0, 2), ...one.slice(0, 2)], 4);
    await keep(world);
    await count(world, [...zero.slice(2, 5), ...zero.slice(0, 2)], 7);
    // Of the other partition a batch of duplicates only: its marker tells of it.
    const aggregator = await world.startAggregator();
    await send(world.writer, [eventOf(one[0] ?? '')]);
    await vi.waitFor(async () => {
      expect((await totals(world.clickhouse)).duplicates).toBe(3);
    }, WAIT);
    await aggregator.close();
    await setBack(world);
    await expectHalted(world, [0, 1]);
    const done = await takeOver();
    expect(done.said).toContain(
      'Partition 0 goes on at record 7 instead of 2: the batches between them, with 3 events, are complete.',
    );
    expect(done.said).toContain('Partition 1 goes on at record 3 instead of 2');
    expect(done.status).toBe(0);
    // Further events, and one again that was counted in what was lost.
    await count(world, [...zero.slice(4, 7), ...one.slice(2, 4)], 11);
    expect(await takeOver()).toEqual({
      status: 0,
      said: 'Nothing is written beyond any checkpoint.\n',
    });
  });

  test('names what is not complete and leaves it, also where a meter has come since', async ({
    world,
    takeOver,
  }) => {
    await createMeter(world.database, '[]');
    const [zero, one] = [idsOf(0), idsOf(1)];
    await count(world, [...zero.slice(0, 1), ...one.slice(0, 1)], 2);
    await keep(world);
    let failures = 0;
    const aggregator = await world.startAggregator(({ kind, ...command }, partition) => {
      if (kind !== 'insert' || partition !== 0) return null;
      if (!('tables' in command) || !command.tables.includes('usage')) return null;
      failures += 1;
      return 'before';
    });
    for (const list of [zero, one]) await send(world.writer, [eventOf(list[1] ?? '')]);
    await vi.waitFor(async () => {
      expect(failures).toBeGreaterThan(2);
      expect((await totals(world.clickhouse)).ids).toBe(4);
    }, WAIT);
    await aggregator.close();
    await setBack(world);
    await expectHalted(world, [0, 1]);
    const partly = await takeOver();
    expect(partly.status).toBe(1);
    expect(partly.said).toContain(
      'partition 0 was not changed: events are stored from record 1 on, but the usage of no batch beyond 1',
    );
    expect(partly.said).toContain('partitions 1 were taken over');
    await expectHalted(world, [0]);
    await setBack(world);
    await createMeter(world.database, '[]', 'm2');
    const since = await takeOver();
    expect(since.said).toContain(
      'partition 1 was not changed: a meter was made or changed since the last batch that PostgreSQL knows',
    );
    await expectHalted(world, [0, 1]);
  });
});
