import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { expectBalancedBooks } from '../../../billing-api/testing/check-books.js';
import { drawSeed } from '../../harness/draw-seed.js';
import { test } from '../../harness/fixtures.js';
import { walked, walks } from './walk-commands.js';
import { withWalkWorld, type Fineness } from './walk-world.js';
import type { ClickHouse } from '../../../clickhouse/client.js';

/** About so many commands are drawn for each seed and kind of world. */
const STEPS = Number(process.env['WALK_STEPS'] ?? '240');
const STEPS_OF_WALK = 120;

const FIXED_SEED = 38;

async function walk(
  clickhouse: ClickHouse,
  { fineness, seed }: { fineness: Fineness; seed: number },
) {
  const runs = Math.max(1, Math.round(STEPS / (STEPS_OF_WALK / 4)));
  const property = fc.asyncProperty(walks(STEPS_OF_WALK), async (commands) => {
    await withWalkWorld(clickhouse, fineness, async (world) => {
      try {
        await fc.asyncModelRun(() => ({ model: world.model, real: world }), commands);
        await expectBalancedBooks(world.api);
      } catch (error) {
        throw new Error(`after\n${world.log.join('\n')}`, { cause: error });
      }
    });
  });
  const shrinks = process.env['WALK_SHRINK'] === '1' ? {} : { endOnFailure: true };
  await fc.assert(property, { seed, numRuns: runs, ...shrinks });
}

describe('subscriptions in random walks', () => {
  for (const seed of [FIXED_SEED, drawSeed()]) {
    test.for(['fine', 'exact'] as const)(
      `are as the rules say, and every instant is paid once: seed ${seed}, %s`,
      { timeout: 3_600_000 },
      async (fineness, { clickhouse: { client } }) => {
        await walk(client, { fineness, seed });
        expect(walked.steps).toBeGreaterThan(0);
      },
    );
  }
});
