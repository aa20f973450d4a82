import { describe, expect, it } from 'vitest';
import { drawSeed } from '../../harness/draw-seed.js';
import { explore, type Failure } from './exhaustive.js';
import { MUTATIONS, type Mutation } from './mutations.js';
import { walk, wrongAfter } from './random-walk.js';
import { createScenario, type Scenario } from './scenario.js';
import { shrink } from './shrink.js';
import { SMALL_WORLDS } from './small-worlds.js';

/**
 * A number and not a time, so that a run is the same everywhere. `npm run nightly` walks through
 * new worlds for ten minutes, tens of thousands of them (its part `simulation`).
 */
const WORLDS = 100;
/** Further worlds, of a new seed in each run; the name of the test says which. */
const FRESH_WORLDS = 100;
const freshSeed = drawSeed();
const MUTATION_SEEDS_MAX = 1_000;
const TIMEOUT_MS = 300_000;

function firstFailure(mutation: Mutation): {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly failure: Failure;
} {
  for (let seed = 1; seed <= MUTATION_SEEDS_MAX; seed += 1) {
    const { scenario, failure } = walk(seed, mutation);
    if (failure !== null) return { seed, scenario, failure };
  }
  throw new Error(`nothing is wrong without ${mutation}`);
}

describe('a random world', () => {
  it.each([
    [WORLDS, 1],
    [FRESH_WORLDS, freshSeed],
  ])(
    'ends with every id counted once and every meter right, for %i seeds from %i on',
    (worlds, firstSeed) => {
      const wrong: string[] = [];
      for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
        const { failure } = walk(seed);
        if (failure !== null) wrong.push(`npm run simulate -- --seed ${seed}: ${failure.wrong}`);
      }
      expect(wrong).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it('is the same again for the same seed', () => {
    const { seed, failure } = firstFailure('no_drain');
    expect(walk(seed, 'no_drain').failure).toEqual(failure);
    expect(walk(8).steps).toBe(walk(8).steps);
  });

  it.each(MUTATIONS)(
    'is noticed to be wrong without a rule: %s',
    (mutation) => {
      expect(firstFailure(mutation).failure.wrong).not.toBe('');
    },
    TIMEOUT_MS,
  );
});

describe('shrink', () => {
  it(
    'keeps a failure and spares every action that it does not need',
    () => {
      const { scenario, failure } = firstFailure('no_drain');
      const shrunk = shrink(scenario, failure);
      expect(shrunk.actions.length).toBeLessThan(failure.actions.length);
      expect(wrongAfter(scenario, shrunk.actions)).toBe(shrunk.wrong);
      const isNeeded = shrunk.actions.map((_, index) =>
        wrongAfter(scenario, shrunk.actions.toSpliced(index, 1)),
      );
      expect(isNeeded).toEqual(shrunk.actions.map(() => null));
    },
    TIMEOUT_MS,
  );
});

describe('the exhaustive explorer', () => {
  it('finds the shortest way to a failure, and it replays', () => {
    const plan = SMALL_WORLDS[0]?.plan;
    if (plan === undefined) throw new Error('there is a first world');
    const scenario = createScenario(plan, 'retry_in_epoch');
    const { failure } = explore(scenario, 50_000);
    expect(failure?.actions.length).toBe(15);
    expect(wrongAfter(scenario, failure?.actions ?? [])).toBe(failure?.wrong);
  });
});
