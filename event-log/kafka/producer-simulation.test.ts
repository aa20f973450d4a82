import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { drawSeed } from '../../load-tests/harness/draw-seed.js';
import { createSeededRandom } from '../../load-tests/harness/seeded-random.js';
import { messageOf } from '../../runtime/failure.js';
import {
  simulateProducer,
  wrongIn,
  type SimulatedRun,
  type SimulationOptions,
} from '../testing/simulate-producer.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the producer under faults', () => {
  const SEEDS = 20;
  const freshSeed = drawSeed();
  /** Of each kind of fault, in all seeds. */
  const FAULTS_MIN = 5;

  /** @throws Error that names the seed when something is wrong. */
  async function simulate(seed: number, options: SimulationOptions = {}): Promise<SimulatedRun> {
    vi.clearAllTimers();
    const draws = createSeededRandom(seed);
    const run = await simulateProducer(seed, draws, options).catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${messageOf(error)}`, { cause: error });
    });
    const wrong = wrongIn(run).slice(0, 3);
    if (wrong.length > 0) throw new Error(`seed ${seed}: ${wrong.join('; ')}`);
    return run;
  }

  async function simulateFrom(
    firstSeed: number,
    options: SimulationOptions = {},
  ): Promise<readonly SimulatedRun[]> {
    const runs: SimulatedRun[] = [];
    for (let seed = firstSeed; seed < firstSeed + SEEDS; seed += 1) {
      runs.push(await simulate(seed, options));
    }
    return runs;
  }

  test(`loses, repeats and swaps nothing, for ${SEEDS} seeds from ${freshSeed} on`, async () => {
    await simulateFrom(freshSeed);
  });

  test('nor for seeds in which every fault occurs', async () => {
    const runs = await simulateFrom(1);
    const sumOf = (count: (run: SimulatedRun) => number): number =>
      runs.reduce((sum, run) => sum + count(run), 0);
    const acknowledged = sumOf((run) => run.given.filter((one) => one.isAcknowledged).length);
    expect(acknowledged).toBeGreaterThan(sumOf((run) => run.given.length) / 4);
    expect(sumOf(({ givenUp }) => givenUp)).toBeGreaterThan(FAULTS_MIN);
    for (const kind of ['recognised', 'late', 'moved', 'hangs', 'forgotten', 'ids'] as const) {
      const count = sumOf(({ seen }) => seen[kind]);
      expect(count, kind).toBeGreaterThan(FAULTS_MIN);
    }
  });

  test('finds what is lost where brokers give an id twice', async () => {
    const found: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const run = simulate(seed, { givesIdsTwice: true });
      await run.catch((error: unknown) => found.push(messageOf(error)));
    }
    expect(found.filter((text) => text.includes('acknowledged and lost'))).not.toEqual([]);
  });

  test(`acknowledges nothing of a topic that was made anew, from ${freshSeed} on`, async () => {
    const runs = await simulateFrom(freshSeed, { isRemade: true });
    const elsewhere = runs.filter(({ recordsElsewhere }) => (recordsElsewhere ?? 0) > 0);
    expect(elsewhere.length).toBeGreaterThan(SEEDS / 2);
  });
});
