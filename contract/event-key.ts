import { environmentKey, type Environment } from './environment.js';

/**
 * Text that identifies an event for ever (docs/internals/architecture.md I2) and keys its log
 * record. Event ids may contain `|`; tenant and environment ids never do, so the text is
 * unambiguous.
 */
export function eventKey(environment: Environment, eventId: string): string {
  return `${environmentKey(environment)}|${eventId}`;
}

const M = 0x5bd1e995;
const SEED = 0x9747b28c;

const utf8 = new TextEncoder();

/**
 * The murmur2 hash that Kafka's Java clients use for keys, as a signed 32-bit integer. Written here
 * because a bulk request is split by partition before it is produced, and both logs must place an
 * id in the same way.
 */
export function murmur2(bytes: Uint8Array): number {
  const length = bytes.length;
  const byteAt = (index: number): number => bytes[index] ?? 0;
  let hash = (SEED ^ length) | 0;
  const wordsEnd = length - (length % 4);
  for (let index = 0; index < wordsEnd; index += 4) {
    let word =
      byteAt(index) |
      (byteAt(index + 1) << 8) |
      (byteAt(index + 2) << 16) |
      (byteAt(index + 3) << 24);
    word = Math.imul(word, M);
    word ^= word >>> 24;
    hash = Math.imul(hash, M) ^ Math.imul(word, M);
  }
  const rest = length % 4;
  if (rest === 3) hash ^= byteAt(wordsEnd + 2) << 16;
  if (rest >= 2) hash ^= byteAt(wordsEnd + 1) << 8;
  if (rest >= 1) hash = Math.imul(hash ^ byteAt(wordsEnd), M);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, M);
  return hash ^ (hash >>> 15);
}

/**
 * Every key whose UTF-8 surely fits is encoded here: a fresh array each time costs three times
 * more.
 */
const scratch = new Uint8Array(4096);

function encoded(key: string): Uint8Array {
  if (key.length * 3 > scratch.length) return utf8.encode(key);
  return scratch.subarray(0, utf8.encodeInto(key, scratch).written);
}

/**
 * The partition of an event key: murmur2 made non-negative, modulo the fixed number of partitions.
 */
export function partitionOf(key: string, partitionCount: number): number {
  return (murmur2(encoded(key)) & 0x7fffffff) % partitionCount;
}
