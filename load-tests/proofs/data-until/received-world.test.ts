import { describe, expect, test } from 'vitest';
import { drawSeed } from '../../harness/draw-seed.js';
import { ReceivedWorld } from './received-world.js';
import { MUTATIONS, type Mutation } from './spoilt-requests.js';

const STEPS = 1_500;
const WORLDS = 60;
const MUTATION_SEEDS_MAX = 400;
const freshSeed = drawSeed();

async function walk(seed: number, without: Mutation | null = null): Promise<ReceivedWorld> {
  const world = new ReceivedWorld(seed, without);
  await world.walk(STEPS);
  return world;
}

describe('what is noted as counted', () => {
  test.each([1, freshSeed])(
    'has every event that was received before and answered 202, whatever is stopped, killed or lost (TEST_SEED=%i)',
    async (firstSeed) => {
      const wrong: string[] = [];
      let [answered, notes, leastLagMs] = [0, 0, Number.POSITIVE_INFINITY];
      for (let seed = firstSeed; seed < firstSeed + WORLDS; seed += 1) {
        const world = await walk(seed);
        if (world.wrong !== null) wrong.push(`${seed}: ${world.wrong}`);
        answered += world.events.filter(({ isAnswered }) => isAnswered).length;
        notes += world.notes;
        leastLagMs = Math.min(leastLagMs, world.leastLagMs);
      }
      expect(wrong).toEqual([]);
      // The walks say something: events are answered, and it follows them closely.
      expect(answered).toBeGreaterThan(WORLDS * 20);
      expect(notes).toBeGreaterThan(WORLDS * 2);
      expect(leastLagMs).toBeLessThan(60);
    },
    60_000,
  );

  test.each(MUTATIONS)(
    'lacks an event when a rule is left out: %s',
    async (mutation) => {
      for (let seed = 1; seed <= MUTATION_SEEDS_MAX; seed += 1) {
        const { wrong } = await walk(seed, mutation);
        if (wrong !== null) return;
      }
      throw new Error(`nothing is missing without ${mutation}`);
    },
    60_000,
  );
});
