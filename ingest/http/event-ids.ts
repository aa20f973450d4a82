import { createHash } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import { environmentKey, type Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import { pooledRandom } from '../../runtime/ulid.js';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Makes ids `event_<ULID>` for events that have none: 80 random bits, ascending within a
 * millisecond.
 */
export function createEventIdSource(): (now: InstantMs) => string {
  const ulid = monotonicFactory(pooledRandom());
  return (now) => `event_${ulid(now)}`;
}

/** 128 bits as the 26 characters of a ULID. */
function ulidText(bytes: Uint8Array): string {
  let bits = 0n;
  for (const byte of bytes.subarray(0, 16)) bits = (bits << 8n) | BigInt(byte);
  let text = '';
  for (let character = 0; character < 26; character += 1) {
    text = CROCKFORD.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return text;
}

export type IdempotencyScope = {
  readonly environment: Environment;
  readonly idempotencyKey: string;
};

/**
 * The id of an event that has none, in a request with an `Idempotency-Key` (docs/http.md 1.9). The
 * same tenant, environment, key and position give the same id for ever, so that a retry counts
 * once. Only the key can hold `|`, and it stands last, so different scopes never give the same
 * text.
 */
export function derivedEventId(scope: IdempotencyScope, position: number): string {
  const text = `${environmentKey(scope.environment)}|${position}|${scope.idempotencyKey}`;
  return `event_${ulidText(createHash('sha256').update(text).digest())}`;
}
