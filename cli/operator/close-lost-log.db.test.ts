import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import {
  createMeter,
  eventOf,
  readUsage,
  send,
  test as base,
  WAIT,
  wrongMarkers,
  type World,
} from '../../aggregator/testing/aggregator-world.js';
import { emptyLog } from '../../aggregator/testing/empty-log.js';
import { endBatchesOfLostLog } from '../../aggregator/ownership/end-begun-batches.js';
import { balanceClosedHours } from '../../billing-api/events/reconciliation/balance-closed-hours.js';
import { HOUR_MS } from '../../contract/instant.js';
import type { EventLogReader } from '../../event-log/interface/event-log.js';
import { runVerb } from '../../load-tests/harness/run-verb.js';
import { createLog } from '../../runtime/log.js';
import { batchStoresOf } from './log-stores.js';

type Verb = (
  ...words: readonly string[]
) => Promise<{ readonly status: number | null; readonly said: string }>;

const test = base.extend<{ verb: Verb }>({
  verb: async ({ database, clickhouse }, use) => {
    const servers = { DATABASE_URL: database.url, CLICKHOUSE_URL: clickhouse.url };
    await use((...words) => runVerb(servers, ...words));
  },
});

const LOST = 'k-lost';
const IDS = ['a', 'b', 'c', 'd', 'e'] as const;

/** A log of its own id that holds the records which the world sends. */
function lostLog({ reader }: World): EventLogReader {
  return {
    ...emptyLog(LOST),
    read: (request) => reader.read(request),
    bounds: (partition) => reader.bounds(partition),
  };
}

/** An aggregator on the lost log that ends with begun batches of which this table is missing. */
async function leaveBegun(world: World, table: 'events' | 'usage'): Promise<void> {
  let failures = 0;
  const aggregator = await world.startAggregator((command) => {
    if (command.kind !== 'insert' || !command.tables.includes(table)) return null;
    failures += 1;
    return 'before';
  }, lostLog(world));
  await send(
    world.writer,
    IDS.map((id) => eventOf(id)),
  );
  await vi.waitFor(() => expect(failures).toBeGreaterThan(3), WAIT);
  await aggregator.close();
}

/** Of the hours that the monitoring balances when this hour is over. */
async function differenceOf({ database, clickhouse }: World): Promise<number> {
  return balanceClosedHours({ database, clickHouse: clickhouse }, Date.now() + HOUR_MS);
}

/** How many records a text names as lost. */
function recordsNamed(text: string): number {
  const ranges = [...text.matchAll(/records (\d+) to (\d+) were gone from the log/g)];
  return ranges.reduce((sum, [, from, to]) => sum + Number(to) - Number(from) + 1, 0);
}

/** How many records the dead letters name as lost. */
async function lostRecords(verb: Verb): Promise<number> {
  return recordsNamed((await verb('dead-letters', 'list')).said);
}

describe('minutebook log close --lost', () => {
  test('is how another log takes the place of one that is gone: what it loses is named as dead letters and as a difference', async ({
    world,
    verb,
  }) => {
    await createMeter(world.database, '[]');
    await leaveBegun(world, 'events');
    await expect(world.startAggregator()).rejects.toThrow(`log ${LOST} is in use`);
    const unlost = await verb('log', 'close');
    expect([unlost.status, unlost.said]).toEqual([
      1,
      expect.stringMatching(/^log k-lost is in use, .*`minutebook log close --lost k-lost`/),
    ]);
    expect(await differenceOf(world)).toBe(0);

    const done = await verb('log', 'close', '--lost', LOST);
    expect(done.said).toMatch(/^Log k-lost is closed, and [12] begun batches of it are ended/m);
    const lost = await lostRecords(verb);
    expect(lost).toBeGreaterThan(0);
    expect(await differenceOf(world)).toBe(lost);
    expect(await wrongMarkers(world.clickhouse)).toEqual([]);

    const aggregator = await world.startAggregator();
    await vi.waitFor(async () => expect(await readUsage(world)).toBe(5), WAIT);
    await aggregator.close();
    expect(await differenceOf(world)).toBe(lost);
  });

  test('makes the same difference for the aggregators that it loses', async ({ world }) => {
    await createMeter(world.database, '[]');
    await leaveBegun(world, 'events');
    const { database, clickhouse } = world;
    const stores = batchStoresOf({ database, clickhouse, logger: createLog('test', 'silent') });
    expect(await endBatchesOfLostLog(stores, LOST)).not.toEqual([]);
    const rows = await clickhouse.query(
      'SELECT payload FROM dead_letters_v1',
      {},
      z.object({ payload: z.string() }),
    );
    const lost = recordsNamed(rows.map(({ payload }) => payload).join());
    expect(lost).toBeGreaterThan(0);
    expect(await differenceOf(world)).toBe(lost);
  });

  test('loses nothing of a batch whose events are stored, so that neither dead letter nor difference comes of it', async ({
    world,
    verb,
  }) => {
    await createMeter(world.database, '[]');
    await leaveBegun(world, 'usage');
    expect((await verb('log', 'close', '--lost', LOST)).status).toBe(0);
    expect([await readUsage(world), await lostRecords(verb)]).toEqual([5, 0]);
    expect(await differenceOf(world)).toBe(0);
  });

  test('is refused for the log of the settings, for one in PostgreSQL, and for one that nobody knows', async ({
    world,
    verb,
  }) => {
    const { logId } = world.reader.identity;
    const own = await verb('log', 'close', '--lost', logId);
    expect([own.status, own.said]).toEqual([
      1,
      `log ${logId} can be read: run \`minutebook log close\` without --lost\n`,
    ]);
    expect((await verb('log', 'close', '--lost', 'pg-other')).said).toMatch(/so it is not lost/);
    expect((await verb('log', 'close', '--lost', 'k-unknown')).said).toMatch(
      /^log k-unknown is not in use, and no batch of it was begun/,
    );
  });
});
