import fc from 'fast-check';
import { describe, expect, inject } from 'vitest';
import { test } from '../../harness/fixtures.js';
import type { ScenarioPlan } from '../simulation/scenario-plan.js';
import { createScenario } from '../simulation/scenario.js';
import { emptyWorld, type World } from '../simulation/world.js';
import { modelled } from './modelled-operations.js';
import { METERS, operations, PARTITIONS, type Operation } from './operations.js';
import { makeMeters, RealPostgres } from './real-postgres.js';
import { stateOfDatabase, stateOfModel } from './stored-state.js';

/** A nightly run takes longer. */
const RUNS = inject('isNightly') ? 1_000 : 40;
const TIMEOUT_MS = 1_800_000;

const PLAN: ScenarioPlan = {
  logs: Array.from({ length: PARTITIONS }, () => []),
  meters: METERS.map((meterId) => ({ meterId, isProOnly: false })),
  metersAtStart: 0,
  owners: 1,
  eventsMax: 1,
  recordsMax: 1,
  recordsAtStart: 0,
  lateRows: true,
  hasOtherRelease: false,
  limits: {
    epochs: 1_000,
    timeouts: 0,
    lostReplies: 0,
    kills: 0,
    powerLosses: 0,
    restores: 0,
    lostParts: 0,
    refusals: 0,
    erasures: 0,
    backfillAttempts: 1_000,
  },
};
const scenario = createScenario(PLAN);

/** Outcomes that every run must have; a nightly run must have the rare ones as well. */
const GUARDED = ['intend', 'finish', 'revert', 'claim', 'progress', 'complete'];
const EXPECTED = [
  ...GUARDED.flatMap((kind) => [`${kind} done`, `${kind} refused`]),
  ...(RUNS < 1_000 ? [] : ['postpone done', 'postpone refused', 'retire_unread done']),
];

/** How often a statement of each kind took effect, and was refused: a run must have both. */
type Counts = Map<string, number>;

async function keepInStep(
  real: RealPostgres,
  drawn: readonly Operation[],
  counts: Counts,
): Promise<void> {
  let world: World = emptyWorld(scenario);
  for (const operation of drawn) {
    const step = modelled(scenario, world, operation);
    if (step === null) continue;
    const generation = world.meters.nextGeneration;
    const hasEffect = await real.perform(step.statement, generation);
    expect({ ...step.statement, hasEffect }).toEqual({
      ...step.statement,
      hasEffect: step.hasEffect,
    });
    world = step.world;
    expect(await stateOfDatabase(real), JSON.stringify(step.statement)).toEqual(
      stateOfModel(world),
    );
    if (step.statement.kind === 'claim' && hasEffect) {
      const startOffsets = world.meters.versions[step.statement.version]?.startOffsets ?? [];
      const ranges = startOffsets.map((liveFrom, partition) => [partition, liveFrom] as const);
      const owned = ranges.filter(([, liveFrom]) => liveFrom > 0);
      expect(real.startOffsetsOfAttempt(generation)).toEqual(owned);
    }
    const key = `${operation.kind} ${hasEffect ? 'done' : 'refused'}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
}

describe('the simulated Postgres', () => {
  test(
    'does what the statements of the product do, refusals included, in any order',
    async ({ database: { database } }) => {
      await makeMeters(database);
      const counts: Counts = new Map();
      // A new seed in each run; a failure shows its seed, its path and the shortest sequence.
      await fc.assert(
        fc.asyncProperty(operations, async (drawn) => {
          await keepInStep(await RealPostgres.empty(database), drawn, counts);
        }),
        { numRuns: RUNS, endOnFailure: false },
      );
      console.log(
        [...counts]
          .sort()
          .map(([key, count]) => `${key} ${count}`)
          .join(', '),
      );
      expect(EXPECTED.filter((key) => !counts.has(key))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
