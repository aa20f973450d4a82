import { settle } from '../checks/settle.js';
import type { Verdict } from '../checks/verdict.js';
import type { PlannedEvent } from '../load/plan-load.js';
import type { Program } from '../engines/program.js';
import type { UsageMeter } from '../load/usage-meter.js';
import { STEPS } from '../random/plan-faults.js';
import type { StopPoint, World } from '../world/world.js';
import { REQUESTS } from './requests.js';
import {
  asBulks,
  asSingles,
  countFirstBatch,
  eventsOf,
  inWorld,
  send,
  until,
  type Bench,
  type EventShape,
  type Notes,
  type Scenario,
} from './scenario.js';

/** Steps of recovery, met only when the owner before died with an unfinished intent. */
const RECOVERY_STEPS = ['refetch', 'check_presence'] as const;
/** Crashes that leave an unfinished batch behind; the short form plays these. */
const CRASHES_OF_SHORT_FORM: readonly StopPoint[] = [
  { step: 'intend', moment: 'after', act: 'kill' },
  { step: 'insert events', moment: 'after', act: 'kill' },
  { step: 'insert ids', moment: 'after', act: 'kill' },
  { step: 'insert usage', moment: 'after', act: 'kill' },
  { step: 'finish', moment: 'before', act: 'kill' },
  { step: 'finish', moment: 'after', act: 'kill' },
];

function everyCrash(): readonly StopPoint[] {
  const moments = ['before', 'after'] as const;
  const crash = (step: string): readonly StopPoint[] =>
    moments.map((moment) => ({ step, moment, act: 'kill' }));
  const prepare: StopPoint = { step: 'insert events', moment: 'after', act: 'kill' };
  return [
    ...STEPS.flatMap(crash),
    ...RECOVERY_STEPS.flatMap(crash).flatMap((stopPoint) => [prepare, stopPoint]),
  ];
}

/** New events and a few that were sent before, so that every table gets rows. */
function chunkOf(index: number): readonly PlannedEvent[] {
  const duplicates = index === 0 ? [] : eventsOf(5, (index - 1) * 40);
  return [...eventsOf(40, index * 40), ...duplicates];
}

async function crashOnce(world: World, stopPoint: StopPoint, notes: Notes): Promise<void> {
  const program = world.startCrashingAggregator(stopPoint);
  const isThere = await program.says(`at ${stopPoint.step}`);
  notes.expect(isThere, `no aggregator came to ${stopPoint.step}: ${program.output}`);
  await program.kill();
  await world.forgetDeadMembers();
}

function crashAtSteps(bench: Bench): Promise<Verdict> {
  return inWorld(bench, { partitions: 1 }, async (world, notes) => {
    await world.startIngest();
    await countFirstBatch(world, bench, notes);
    let index = 0;
    for (const stopPoint of bench.isLong ? everyCrash() : CRASHES_OF_SHORT_FORM) {
      await send(world, asBulks(chunkOf(index)));
      await crashOnce(world, stopPoint, notes);
      index += 1;
    }
    world.startAggregator();
  });
}

const blockMeters = (count: number): readonly UsageMeter[] =>
  Array.from({ length: count }, (_, index) => ({
    meterId: `block_meter_${index}`,
    environment: 0,
    eventName: 'api.request',
    filters: [],
    aggregation: 'COUNT',
  }));
/** A customer of its own for every event, so that every event makes a usage row on every meter. */
const ownCustomer = (index: number): EventShape => ({ external_customer_id: `customer ${index}` });
const CUT_WITHIN_MS = 120_000;

/**
 * More usage than two blocks hold: ClickHouse makes a block visible when it has read the next one
 * as a whole. The long form has two blocks of 1,048,449 rows before the cut; in the short form
 * blocks are small. A bulk request is one record, which is never cut. The server has `holdMs` to
 * write what came.
 */
const LONG_FORM = { events: 40_000, meters: 60, bulkEvents: 1_000, holdMs: 15_000 };
const SHORT_FORM = { events: 400, meters: 30, bulkEvents: 50, holdMs: 1_500 };
const SMALL_BLOCK_ROWS = 4_000;
/** Millions of rows are folded and written twice. */
const LONG_SETTLE_TIMEOUT_MS = 240_000;

/** The owner dies while it sends its insert of usage. */
function dieInUsageInsert(bench: Bench): Promise<Verdict> {
  const { events, meters, bulkEvents, holdMs } = bench.isLong ? LONG_FORM : SHORT_FORM;
  const start = (world: World): Program =>
    bench.isLong ? world.startAggregator() : world.startAggregatorWithBlocks(SMALL_BLOCK_ROWS);
  const shape = { partitions: 1, flushDelayMs: 3_000, meters: blockMeters(meters) };
  const settled = bench.isLong ? { ...bench, settleTimeoutMs: LONG_SETTLE_TIMEOUT_MS } : bench;
  return inWorld(settled, shape, async (world, { expect }) => {
    const { clickhouseProxy } = world.options.engines;
    await world.startIngest();
    await send(world, asBulks(eventsOf(events, 0, ownCustomer), bulkEvents));
    clickhouseProxy.disturb({ kind: 'cut', match: REQUESTS.insertUsage, times: 1, holdMs });
    const owner = start(world);
    expect(await until(() => clickhouseProxy.isSpent, CUT_WITHIN_MS), 'no insert was cut');
    await clickhouseProxy.calm();
    await owner.kill();
    await world.forgetDeadMembers();
    start(world);
  });
}

/** Processes and engines that are killed at any step. */
export const CRASHING: readonly Scenario[] = [
  {
    name: 'consumer killed between every two steps: nothing is missing, nothing is double',
    isCalm: true,
    isAboutLog: true,
    run: crashAtSteps,
  },
  {
    name: 'consumer that failed to write has not seen the ids: nothing is missing',
    isCalm: false,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { partitions: 1 }, async (world, { expect }) => {
        await world.startIngest();
        world.startAggregator();
        await send(world, asBulks(eventsOf(20, 0)));
        await settle(world, bench.settleTimeoutMs);
        const { clickhouseProxy } = world.options.engines;
        clickhouseProxy.disturb({ kind: 'drop', match: REQUESTS.insertEvents, times: 1 });
        await send(world, asBulks(eventsOf(60, 100)));
        await settle(world, bench.settleTimeoutMs);
        expect(clickhouseProxy.isSpent, 'no insert failed');
      }),
  },
  {
    name: 'consumer killed in the middle of its insert of usage: nothing is double',
    isCalm: false,
    isAboutLog: false,
    run: dieInUsageInsert,
  },
  {
    name: 'sink killed while it writes: nothing is counted twice',
    isCalm: false,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { flushDelayMs: 20, batchEventsMax: 40 }, async (world) => {
        const { clickhouse } = world.options.engines;
        await world.startIngest();
        world.startAggregator();
        const sending = send(world, asSingles(eventsOf(500, 0), 2_500));
        for (let kill = 0; kill < 3; kill += 1) {
          await clickhouse.kill();
          await clickhouse.start();
        }
        await sending;
      }),
  },
  {
    name: 'the disk of the sink is full: it is written when there is room again',
    isCalm: false,
    isAboutLog: false,
    skipReason: ({ engines }) => engines.disk.skipReason,
    run: (bench) =>
      inWorld(bench, {}, async (world, { expect }) => {
        const { disk } = world.options.engines.disk;
        await world.startIngest();
        world.startAggregator();
        await send(world, asBulks(eventsOf(50, 0)));
        await settle(world, bench.settleTimeoutMs);
        disk?.fill();
        await send(world, asSingles(eventsOf(200, 100), 1_500));
        const isDone = (await settle(world, 1_000)) === null;
        expect(!isDone, 'the disk was not full');
        disk?.free();
      }),
  },
  {
    name: 'checkpoints lost their server in the middle: nothing is missing, nothing is double',
    isCalm: false,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, { flushDelayMs: 20, batchEventsMax: 40 }, async (world) => {
        const { postgres } = world.options.engines;
        await world.startIngest();
        world.startAggregator();
        const sending = send(world, asSingles(eventsOf(300, 0), 1_500));
        for (let kill = 0; kill < 2; kill += 1) {
          await postgres.kill();
          await postgres.start();
        }
        await sending;
      }),
  },
];
