import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import type { Aggregator } from '../aggregator.js';
import {
  acceptedEvents,
  createMeter,
  eventOf,
  readUsage,
  send,
  test,
  totals,
  WAIT,
  wrongMarkers,
  type World,
} from '../testing/aggregator-world.js';
import { emptyLog } from '../testing/empty-log.js';

const OTHER = 'k-other';
const STRAYS = 20;

/** An owner that ends with begun batches of which nothing is stored. */
async function leaveBegun(world: World, ids: readonly string[]): Promise<void> {
  let failures = 0;
  const owner = await world.startAggregator((command) => {
    if (command.kind !== 'insert' || !command.tables.includes('events')) return null;
    failures += 1;
    return 'before';
  });
  await send(
    world.writer,
    ids.map((id) => eventOf(id)),
  );
  await vi.waitFor(() => expect(failures).toBeGreaterThan(3), WAIT);
  await owner.close();
}

/** What an aggregator says that is started on the other log and ended again; '' for nothing. */
async function startStray(world: World): Promise<string> {
  let stray: Aggregator | null = null;
  try {
    stray = await world.startAggregator(undefined, emptyLog(OTHER));
    return '';
  } catch (error) {
    return String(error);
  } finally {
    await stray?.close();
  }
}

/** Every event that was sent is counted once, and nothing has halted. */
async function expectCounted(world: World, aggregator: Aggregator, events: number): Promise<void> {
  await vi.waitFor(async () => {
    const { events: stored, ids } = await totals(world.clickhouse);
    const read = await readUsage(world);
    const accepted = await acceptedEvents(world.clickhouse);
    expect({ stored, ids, read, accepted }).toEqual({
      stored: events,
      ids: events,
      read: events,
      accepted: events,
    });
  }, WAIT);
  expect(await wrongMarkers(world.clickhouse)).toEqual([]);
  expect([...aggregator.halted]).toEqual([]);
}

describe('an aggregator on another log than the one in use', () => {
  test('is refused by the names of both logs, and loses no event of a begun batch whose owner is dead', async ({
    world,
  }) => {
    await createMeter(world.database, '[]');
    await leaveBegun(world, ['a', 'b', 'c', 'd', 'e']);
    const said = await startStray(world);
    const owner = await world.startAggregator();
    await expectCounted(world, owner, 5);
    expect(said).toContain(`log ${world.reader.identity.logId} is in use`);
    expect(said).toContain(`started on log ${OTHER}`);
  });

  test('started and ended twenty times under load leaves every event counted once and nothing halted', async ({
    world,
  }) => {
    await createMeter(world.database, '[]');
    let isSending = true;
    let sent = 0;
    const load = (async (): Promise<void> => {
      while (isSending) {
        const ids = Array.from({ length: 20 }, (_, index) => `load ${sent + index}`);
        await send(
          world.writer,
          ids.map((id) => eventOf(id)),
        );
        sent += ids.length;
        await delay(20);
      }
    })();
    let owner = await world.startAggregator();
    const said: string[] = [];
    for (let round = 0; round < STRAYS; round += 1) {
      // Half of them while the owner lives, half while it is away with a begun batch.
      if (round === STRAYS / 2) {
        await owner.close();
        await leaveBegun(world, ['begun']);
      }
      said.push(await startStray(world));
      await delay(50);
    }
    owner = await world.startAggregator();
    isSending = false;
    await load;
    await expectCounted(world, owner, sent + 1);
    expect(said.filter((text) => text.includes('is in use'))).toHaveLength(STRAYS);
  });
});
