import { expect, test } from 'vitest';
import { drawSeed } from '../../../harness/draw-seed.js';
import { runAgreement } from './agreement-run.js';

/**
 * By count and not by time, so that a run is the same everywhere. `npm run nightly` prices 10,000
 * new cases (its part `pricing`).
 */
const CASES = 50;
/** Beside them, cases that no run had before; the name of the test says which. */
const FRESH_CASES = 50;
const TIMEOUT_MS = 120_000;

test.each([
  [CASES, 1],
  [FRESH_CASES, drawSeed()],
])(
  'the pricing core and the oracle price %i random subscriptions from seed %i on alike',
  (casesMax, firstSeed) => {
    const found: string[] = [];
    const run = runAgreement({
      firstSeed,
      casesMax,
      onCase: () => undefined,
      onDifference: (texts) => {
        found.push(...texts);
      },
    });
    expect(found).toEqual([]);
    expect(run.agreed).toBe(casesMax);
    expect(run.lines).toBeGreaterThan(casesMax);
  },
  TIMEOUT_MS,
);
