// What tells one event of the load from another, computed from its number alone, so that a repeat
// is the same event again and whoever watches knows what it looks for.

/** Events of this many different customers; the first of them is 0. */
export const LOAD_CUSTOMERS = 10_000;
/** One of so many events is watched by the measurement of visibility. */
export const CANARY_EVERY = 50;
/** The customer of all watched events. */
export const CANARY_CUSTOMER = 'customer-canary';

/** The number of events after which the time moves on by a minute, within one hour. */
const EVENTS_PER_MINUTE = 100_000;
const MINUTE_MS = 60_000;
const LOAD_START_MS = Date.UTC(2026, 10, 20, 12);
/** Watched events lie in years of their own: each has a minute to itself. */
const CANARY_START_MS = Date.UTC(2030, 0, 1);
const CANARY_MINUTES = 50 * 365 * 24 * 60;

const HEX = '0123456789abcdef';
/** Positions of the dashes in a UUID. */
const DASHES: ReadonlySet<number> = new Set([8, 13, 18, 23]);
const UUID_LENGTH = 36;

/** Mixes 32 bits so that neighbours have nothing in common; different numbers stay different. */
export function mixed(number: number): number {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** The name of the customer of this number, below LOAD_CUSTOMERS; as long as the canaries'. */
export function loadCustomer(number: number): string {
  return `customer-${String(number).padStart(6, '0')}`;
}

/** The customer of an event, spread over LOAD_CUSTOMERS without a pattern. */
export function customerOfEvent(index: number): number {
  return mixed(index + 0x9e37) % LOAD_CUSTOMERS;
}

/**
 * Writes a random-looking UUID, as clients make them: an id in ascending order would cost a store
 * next to nothing to keep. Different numbers below 2^53 have different ids.
 */
export function writeEventId(bytes: Buffer, place: number, index: number): void {
  const low = index >>> 0;
  const high = Math.floor(index / 2 ** 32);
  const words = [mixed(low), mixed(high ^ low), mixed(low + 0x51ed27), mixed(low ^ 0x2c1b3c6d)];
  let digit = 0;
  for (let at = 0; at < UUID_LENGTH; at += 1) {
    if (DASHES.has(at)) continue;
    const nibble = ((words[digit >> 3] ?? 0) >>> (4 * (digit & 7))) & 15;
    bytes[place + at] = HEX.charCodeAt(nibble);
    digit += 1;
  }
}

/** A moment within the minute of the event, without a pattern. */
export function timestampOfEvent(index: number): number {
  const minute = Math.floor(index / EVENTS_PER_MINUTE) % 60;
  return LOAD_START_MS + minute * MINUTE_MS + (mixed(index ^ 0x5bd1e995) % MINUTE_MS);
}

export function isCanary(index: number): boolean {
  return index % CANARY_EVERY === 0;
}

/** The minute that a watched event has to itself. */
export function minuteOfCanary(index: number): number {
  return CANARY_START_MS + (Math.floor(index / CANARY_EVERY) % CANARY_MINUTES) * MINUTE_MS;
}
