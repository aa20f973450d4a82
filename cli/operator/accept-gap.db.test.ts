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

type Verb = (
  ...words: readonly string[]
) => Promise<{ readonly status: number | null; readonly said: string }>;

const test = base.extend<{ verb: Verb }>({
  verb: async ({ database, clickhouse }, use) => {
    const servers = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
    await use((...words) => runVerb(servers, ...words));
  },
});

/** Ids of one partition, so that its offsets are those of the events. */
const PARTITION = recordOf(eventOf('event 0')).partition;
const IDS = Array.from({ length: 200 }, (_, number) => `event ${number}`).filter(
  (id) => recordOf(eventOf(id)).partition === PARTITION,
);

/** One append each, so that the log can lose the first of them. */
async function sendOneByOne(world: World, from: number, to: number): Promise<void> {
  for (const id of IDS.slice(from, to)) await send(world.writer, [eventOf(id)]);
}

/** As retention does that is shorter than an outage. */
async function loseBelow(world: World, offset: number): Promise<void> {
  const run = sql.type(z.unknown());
  await ownerOf(world.database).query(run`
    DELETE FROM event_log_batches WHERE partition = ${PARTITION} AND end_offset <= ${offset}`);
  await ownerOf(world.database).query(run`
    UPDATE event_log_partitions SET start_offset = ${offset} WHERE partition = ${PARTITION}`);
}

async function expectHalted(world: World): Promise<void> {
  const aggregator = await world.startAggregator();
  await vi.waitFor(() => {
    expect(aggregator.halted.get(PARTITION)).toBe('log_start_beyond_checkpoint');
  }, WAIT);
  await aggregator.close();
}

/** Usage and stored events, once an aggregator has read the whole log. */
async function expectCounted(world: World, events: number): Promise<void> {
  const aggregator = await world.startAggregator();
  await vi.waitFor(async () => {
    const stored = await totals(world.clickhouse);
    expect({ ...stored, read: await readUsage(world) }).toMatchObject({
      events,
      ids: events,
      read: events,
    });
  }, WAIT);
  expect([...aggregator.halted]).toEqual([]);
  expect(await wrongMarkers(world.clickhouse)).toEqual([]);
  await aggregator.close();
}

/** An aggregator that ends with a batch of which this table was never written. */
async function leaveBegun(world: World, table: 'events' | 'ids', send: () => Promise<void>) {
  let failures = 0;
  const aggregator = await world.startAggregator((command) => {
    if (command.kind !== 'insert' || !command.tables.includes(table)) return null;
    failures += 1;
    return 'before';
  });
  await send();
  await vi.waitFor(() => expect(failures).toBeGreaterThan(3), WAIT);
  await aggregator.close();
}

const accept = ['log', 'accept-gap', String(PARTITION)] as const;

describe('minutebook log accept-gap', () => {
  test('goes on behind records that are gone, names them among the dead letters, and is refused without a gap', async ({
    world,
    verb,
  }) => {
    await createMeter(world.database, '[]');
    await sendOneByOne(world, 0, 3);
    await expectCounted(world, 3);
    await sendOneByOne(world, 3, 10);
    await loseBelow(world, 7);
    await expectHalted(world);
    const done = await verb(...accept);
    expect(done.said).toMatch(/goes on at record 7; what was not counted from 3 on is given up/);
    await expectCounted(world, 6);
    const letters = await verb('dead-letters', 'list');
    expect(letters.said).toContain(
      'records 3 to 6 were gone from the log before they were counted',
    );
    // A sender that sends again what is gone.
    await sendOneByOne(world, 3, 7);
    await expectCounted(world, 10);
    const again = await verb(...accept);
    const refused = `partition ${PARTITION} has no gap: nothing was changed\n`;
    expect(again).toEqual({ status: 1, said: refused });
  });

  test('counts what is left of a begun batch of which nothing was stored', async ({
    world,
    verb,
  }) => {
    await createMeter(world.database, '[]');
    await leaveBegun(world, 'events', () =>
      send(
        world.writer,
        IDS.slice(0, 1).map((id) => eventOf(id)),
      ),
    );
    await sendOneByOne(world, 1, 6);
    const run = sql.type(z.unknown());
    // The batch, as one that was begun with more records.
    await ownerOf(world.database).query(run`
      UPDATE aggregator_checkpoints SET intent_end = 4 WHERE intent_end IS NOT NULL`);
    await loseBelow(world, 2);
    await expectHalted(world);
    expect((await verb(...accept)).status).toBe(0);
    await expectCounted(world, 4);
  });

  test('completes a begun batch whose events are stored, although its records are gone', async ({
    world,
    verb,
  }) => {
    await createMeter(world.database, '[]');
    await leaveBegun(world, 'ids', () =>
      send(
        world.writer,
        IDS.slice(0, 3).map((id) => eventOf(id)),
      ),
    );
    await sendOneByOne(world, 3, 6);
    await loseBelow(world, 4);
    await expectHalted(world);
    expect((await verb(...accept)).status).toBe(0);
    await expectCounted(world, 5);
  });
});
