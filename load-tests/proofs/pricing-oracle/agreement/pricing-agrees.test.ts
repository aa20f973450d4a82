import { expect, test } from 'vitest';
import { runAgreement } from './agreement-run.js';

/** By count and not by time, so that a run is the same everywhere. */
const CASES = 200;
const TIMEOUT_MS = 120_000;

test(
  `the pricing core and the oracle price ${CASES} random subscriptions alike`,
  () => {
    const found: string[] = [];
    const run = runAgreement({
      firstSeed: 1,
      casesMax: CASES,
      onCase: () => undefined,
      onDifference: (texts) => {
        found.push(...texts);
      },
    });
    expect(found).toEqual([]);
    expect(run.agreed).toBe(CASES);
    expect(run.lines).toBeGreaterThan(CASES);
  },
  TIMEOUT_MS,
);
