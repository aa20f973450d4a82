import { setTimeout as delay } from 'node:timers/promises';
import { settle } from '../checks/settle.js';
import type { Program } from '../engines/program.js';
import { LATE_METER } from '../load/usage-meter.js';
import type { World } from '../world/world.js';
import {
  asBulks,
  asSingles,
  countFirstBatch,
  eventsOf,
  inWorld,
  send,
  type Bench,
  type Notes,
  type Scenario,
} from './scenario.js';

const ONE = { partitions: 1 } as const;
/** An owner that is fenced pauses 1.5 s and takes the partition again. */
const FENCED_MS = 2_500;

/** Starts an aggregator that freezes before a step of its batch, and waits until it is there. */
async function freezeBefore(world: World, step: string, notes: Notes): Promise<Program> {
  const program = world.startCrashingAggregator({ step, moment: 'before', act: 'freeze' });
  const isThere = await program.says(`at ${step}`);
  notes.expect(isThere, `no aggregator came to ${step}`);
  await world.forgetDeadMembers();
  return program;
}

/** Does something to the owner of the first events, then sends more: all of them count once. */
function whileOwned(
  name: string,
  happens: (world: World, notes: Notes, bench: Bench) => Promise<void>,
): Scenario {
  return {
    name,
    isCalm: true,
    isAboutLog: false,
    run: (bench) =>
      inWorld(bench, ONE, async (world, notes) => {
        await world.startIngest();
        await countFirstBatch(world, bench, notes);
        await send(world, asBulks(eventsOf(60, 0)));
        await happens(world, notes, bench);
        await send(world, asBulks(eventsOf(20, 100)));
      }),
  };
}

/** An owner is paused, its successor processes everything, and the owner continues. */
function pausedBefore(step: string): Scenario {
  return whileOwned(
    `owner paused before ${step} wakes after its partition was taken: it changes nothing`,
    async (world, notes, bench) => {
      const paused = await freezeBefore(world, step, notes);
      world.startAggregator();
      const unsettled = await settle(world, bench.settleTimeoutMs);
      notes.expect(unsettled === null, `the successor: ${unsettled ?? ''}`);
      paused.thaw();
      await delay(FENCED_MS);
    },
  );
}

/** A meter is activated while the owner stands before a step. */
function activatedBefore(step: string, name: string): Scenario {
  return whileOwned(name, async (world, notes) => {
    const owner = await freezeBefore(world, step, notes);
    await world.addMeter(LATE_METER);
    owner.thaw();
  });
}

/** Ownership of partitions, and processes that wrongly believe that they are owners. */
export const OWNING: readonly Scenario[] = [
  ...['insert events', 'insert ids', 'insert usage', 'finish'].map(pausedBefore),
  whileOwned('intent of an owner that was replaced: it is refused', async (world, notes) => {
    const replaced = await freezeBefore(world, 'intend', notes);
    // Its successor has taken the partition and stands before the gate.
    const successor = await freezeBefore(world, 'raise_gate', notes);
    replaced.thaw();
    await delay(FENCED_MS);
    // With two alive the partition might go back to the first one, and nobody would look.
    await replaced.kill();
    await world.forgetDeadMembers();
    successor.thaw();
    await delay(FENCED_MS);
  }),
  activatedBefore(
    'insert events',
    'meter activated between an intent and its inserts: each event counts on it once',
  ),
  activatedBefore(
    'intend',
    'meter activated before an intent: the intent uses the catalog with it, each event counts once',
  ),
  {
    name: 'aggregators join, leave and die: partitions move and every event counts once',
    isCalm: true,
    isAboutLog: true,
    run: (bench) =>
      inWorld(bench, { partitions: 4, flushDelayMs: 20 }, async (world) => {
        await world.startIngest();
        const first = world.startAggregator();
        const sending = send(world, asSingles(eventsOf(600, 0), 5_000));
        await delay(800);
        const second = world.startAggregator();
        await delay(1_200);
        world.startAggregator();
        await first.stop();
        await delay(1_000);
        await second.kill();
        await sending;
      }),
  },
];
