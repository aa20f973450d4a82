import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

/** Random bytes are drawn this many at a time: one call per character would cost 20 µs an id. */
const POOL_BYTES = 4096;

/** A source of random numbers from 0 to below 1, with 8 random bits each, as `ulid` wants it. */
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

const random = pooledRandom();

/** A fresh ULID of now: 26 characters, 80 of its bits random. */
export const createUlid = (): string => ulid(undefined, random);
