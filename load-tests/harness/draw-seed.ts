import { randomInt } from 'node:crypto';

const SEEDS = 1_000_000_000;

/** The seed in `TEST_SEED`, which repeats a failed random test; null when it is not set. */
export function givenSeed(): number | null {
  const text = process.env['TEST_SEED'];
  if (text === undefined) return null;
  const seed = Number(text);
  if (!Number.isSafeInteger(seed)) throw new Error(`TEST_SEED is no whole number: ${text}`);
  return seed;
}

/** The seed in `TEST_SEED`, or a new random one. The caller shows it when a test fails. */
export function drawSeed(): number {
  return givenSeed() ?? randomInt(SEEDS);
}
