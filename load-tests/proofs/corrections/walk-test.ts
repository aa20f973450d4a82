import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Stack } from '../../../cli/stack/stack.js';
import { drawSeed } from '../../harness/draw-seed.js';
import { createSeededRandom, type SeededRandom } from '../../harness/seeded-random.js';
import { withTestStack } from '../../harness/test-stack.js';
import { CorrectionWalk } from './walk.js';

/** Kills programs and ClickHouse in turns until the signal aborts; returns how often. */
async function killInTurns(
  stack: Stack,
  random: SeededRandom,
  signal: AbortSignal,
): Promise<number> {
  let kills = 0;
  while (!signal.aborted) {
    await delay(random.between(6_000, 14_000), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    const victim = random.pick([stack.aggregator, stack.billingApi, stack.clickhouse]);
    const pid = victim?.pid() ?? null;
    if (pid === null) continue;
    process.kill(pid, 'SIGKILL');
    kills += 1;
  }
  return kills;
}

/** Walks through so many steps on a product of its own. */
export async function expectWalk(of: {
  readonly steps: number;
  readonly withKills: boolean;
}): Promise<void> {
  const seed = drawSeed();
  const random = createSeededRandom(seed);
  await withTestStack({}, async (stack) => {
    const walk = new CorrectionWalk(stack, random);
    await walk.begin();
    const stop = new AbortController();
    const killing = of.withKills
      ? killInTurns(stack, createSeededRandom(seed + 1), stop.signal)
      : Promise.resolve(0);
    try {
      for (let step = 0; step < of.steps; step += 1) await walk.step();
    } catch (error) {
      throw new Error(`TEST_SEED=${seed}`, { cause: error });
    } finally {
      stop.abort();
      await killing;
    }
    if (of.withKills) expect(await killing).toBeGreaterThan(2);
    await walk.settled();
    expect({ seed, ...(await walk.totals()) }).toMatchObject({ pending: 0, difference: 0 });
  });
}
