import { settle } from '../checks/settle.js';
import { readTotals } from '../checks/read-stores.js';
import type { World } from '../world/world.js';
import { asBulks, asSingles, eventsOf, inWorld, send, type Scenario } from './scenario.js';

/** The product's own defaults (runtime/config.ts). */
const DEFAULTS = { flushDelayMs: 200, batchEventsMax: 50_000 };
const PARTITIONS = 2;

async function batchesOf(world: World, timeoutMs: number): Promise<number> {
  await settle(world, timeoutMs);
  return (await readTotals(world.clickhouse)).markers;
}

/** Batches are what costs: their number stands for speed, since it is the same on any machine. */
export const BATCHING: readonly Scenario[] = [
  {
    name: 'no insert per event: parts stay few',
    isCalm: true,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { partitions: PARTITIONS, ...DEFAULTS }, async (world, { expect }) => {
        await world.startIngest();
        world.startAggregator();
        const startedAt = Date.now();
        await send(world, asSingles(eventsOf(1_000, 0), 2_000));
        const batches = await batchesOf(world, bench.settleTimeoutMs);
        // A partition gathers for the flush delay before it writes: more would be an insert early.
        const most = PARTITIONS * Math.ceil((Date.now() - startedAt) / DEFAULTS.flushDelayMs);
        expect(batches <= most, `${batches} batches, and ${most} at most`);
        expect(batches <= 250, `${batches} batches of 1,000 events`);
      }),
  },
  {
    name: '12 messages a second by default: a batch takes all that waits',
    isCalm: true,
    isAboutLog: true,
    run: (bench) =>
      inWorld(bench, { partitions: PARTITIONS, ...DEFAULTS }, async (world, { expect }) => {
        await world.startIngest();
        await send(world, asSingles(eventsOf(400, 0), 500));
        await send(world, asBulks(eventsOf(3_600, 1_000)));
        world.startAggregator();
        const batches = await batchesOf(world, bench.settleTimeoutMs);
        expect(batches <= 2 * PARTITIONS, `${batches} batches for a backlog of 4,000 events`);
      }),
  },
  {
    name: 'batch that waits longer does not make everything slower',
    isCalm: false,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { partitions: PARTITIONS, ...DEFAULTS }, async (world, { expect }) => {
        const { clickhouse } = world.options.engines;
        await world.startIngest();
        world.startAggregator();
        await send(world, asBulks(eventsOf(100, 0)));
        const before = await batchesOf(world, bench.settleTimeoutMs);
        await clickhouse.kill();
        // Ends when every event is accepted: ingest does not wait for the batch that waits.
        await send(world, asSingles(eventsOf(600, 1_000), 1_500));
        await clickhouse.start();
        const batches = (await batchesOf(world, bench.settleTimeoutMs)) - before;
        // The batch that waited, and one with all that came meanwhile, per partition; one to spare.
        expect(batches <= 3 * PARTITIONS, `${batches} batches for what had waited`);
      }),
  },
];
