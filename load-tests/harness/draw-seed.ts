import { randomInt } from 'node:crypto';

const SEEDS = 1_000_000_000;

/** The seed of `TEST_SEED`, which repeats the random part of a test that failed; null without. */
export function givenSeed(): number | null {
  const text = process.env['TEST_SEED'];
  if (text === undefined) return null;
  const seed = Number(text);
  if (!Number.isSafeInteger(seed)) throw new Error(`TEST_SEED is no whole number: ${text}`);
  return seed;
}

/** The given seed, or one that no run had before. Its user says it where a failure shows it. */
export function drawSeed(): number {
  return givenSeed() ?? randomInt(SEEDS);
}
