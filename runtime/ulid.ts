import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';

/** How many random bytes are drawn at once; one call per character would cost 20 µs per id. */
const POOL_BYTES = 4096;

/** A source of random numbers in [0, 1) with 8 random bits each, as `ulid` needs it. */
export function pooledRandom(): () => number {
  const pool = new Uint8Array(POOL_BYTES);
  let next = POOL_BYTES;
  return () => {
    if (next === POOL_BYTES) {
      randomFillSync(pool);
      next = 0;
    }
    const byte = pool[next] ?? 0;
    next += 1;
    return byte / 256;
  };
}

const next = monotonicFactory(pooledRandom());

/**
 * A new ULID with the present time: 26 characters, of which 16 hold 80 random bits. Those that a
 * process makes sort by their making, also within a millisecond: there the bits count on.
 */
export const createUlid = (): string => next();
