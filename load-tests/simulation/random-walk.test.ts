import { describe, expect, it } from 'vitest';
import { explore } from './exhaustive.js';
import { MUTATIONS } from './mutations.js';
import { walk, wrongAfter } from './random-walk.js';
import { createScenario } from './scenario.js';
import { shrink } from './shrink.js';
import { SMALL_WORLDS } from './small-worlds.js';

/** By count and not by time, so that a run is the same everywhere. */
const WORLDS = 1_500;
const MUTATION_SEEDS_MAX = 1_000;
const TIMEOUT_MS = 300_000;

describe('a random world', () => {
  it(
    `ends with every id counted once and every meter right, for ${WORLDS} seeds`,
    () => {
      const wrong: string[] = [];
      for (let seed = 1; seed <= WORLDS; seed += 1) {
        const { failure } = walk(seed);
        if (failure !== null) wrong.push(`npm run simulate -- --seed ${seed}: ${failure.wrong}`);
      }
      expect(wrong).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it('is the same again for the same seed', () => {
    expect(walk(7, 'no_drain').failure).toEqual(walk(7, 'no_drain').failure);
    expect(walk(8).steps).toBe(walk(8).steps);
  });

  it.each(MUTATIONS)(
    'is noticed to be wrong without a rule: %s',
    (mutation) => {
      let found = 0;
      for (let seed = 1; seed <= MUTATION_SEEDS_MAX && found === 0; seed += 1) {
        if (walk(seed, mutation).failure !== null) found = seed;
      }
      expect(found).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});

describe('shrink', () => {
  it(
    'keeps a failure and spares every action that it does not need',
    () => {
      const { scenario, failure } = walk(2, 'no_drain');
      if (failure === null) throw new Error('the seed was chosen for its failure');
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
