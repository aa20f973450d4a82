import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import { expectBalancedBooks } from '../../../billing-api/testing/check-books.js';
import { drawSeed } from '../../harness/draw-seed.js';
import { test } from '../../harness/fixtures.js';
import { walked, walks } from './walk-commands.js';
import { expectPayer } from './compare.js';
import { advanceBoth, START, withWalkWorld, type WalkWorld, type WorldKind } from './walk-world.js';
import type { ClickHouse } from '../../../clickhouse/client.js';

/** About so many commands are drawn for each seed and kind of world. */
const STEPS = Number(process.env['WALK_STEPS'] ?? '240');
const STEPS_OF_WALK = 120;

const FIXED_SEED = 38;
const TWO_YEARS_MS = 731 * 24 * 3_600_000;

type Walk = WorldKind & {
  readonly seed: number;
  /** About so many commands. */
  readonly steps: number;
};

/** Lets everything that is alive live on until two years after the start. */
async function liveOn(world: WalkWorld): Promise<void> {
  const to = START + TWO_YEARS_MS;
  if (world.model.now >= to) return;
  world.log.push('live on');
  for (const payer of await advanceBoth(world, to)) await expectPayer(world, payer);
}

async function walk(clickhouse: ClickHouse, { seed, steps, ...kind }: Walk) {
  const runs = Math.max(1, Math.round(steps / (STEPS_OF_WALK / 4)));
  const property = fc.asyncProperty(walks(STEPS_OF_WALK), async (commands) => {
    await withWalkWorld(clickhouse, kind, async (world) => {
      try {
        await fc.asyncModelRun(() => ({ model: world.model, real: world }), commands);
        if (kind.isLong) await liveOn(world);
        await expectBalancedBooks(world.api);
      } catch (error) {
        throw new Error(`after\n${world.log.join('\n')}`, { cause: error });
      }
    });
  });
  const shrinks = process.env['WALK_SHRINK'] === '1' ? {} : { endOnFailure: true };
  await fc.assert(property, { seed, numRuns: runs, ...shrinks });
}

const WALKS = [
  ['fine', 'walk', STEPS],
  ['exact', 'walk', STEPS],
  ['fine', 'walk through two years', STEPS / 4],
  ['exact', 'walk through two years', STEPS / 4],
] as const;

describe('subscriptions in random walks', () => {
  // The figures are what a long run is for.
  afterAll(() => console.log(`${walked.steps} steps, of which ${walked.refused} were refused`));

  for (const seed of [FIXED_SEED, drawSeed()]) {
    test.for(WALKS)(
      `are as the rules say, and every instant is paid once: seed ${seed}, amounts are %s, they %s`,
      { timeout: 3_600_000 },
      async ([fineness, how, steps], { clickhouse: { client } }) => {
        await walk(client, { fineness, seed, steps, isLong: how !== 'walk' });
        expect(walked.steps).toBeGreaterThan(0);
      },
    );
  }
});
