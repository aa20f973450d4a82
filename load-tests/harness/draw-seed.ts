import { randomInt } from 'node:crypto';

const SEEDS = 1_000_000_000;

/** A seed that no run had before, for whoever says it where a failure shows it. */
export function drawSeed(): number {
  return randomInt(SEEDS);
}
