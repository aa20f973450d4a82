import type { EventTail } from '../load/access-log-properties.js';
import { loadCustomer, mixed, writeEventId } from '../load/load-identity.js';

// The events of the mixed load. Everything about an event follows from its number, so that a repeat
// is the same event again and the client can count without keeping the events.

/** Customers that exist. As many as the access log of the demo has. */
export const MIX_CUSTOMERS = 1_753;
export const REQUEST = 'api.request';
export const JOB = 'job.run';
/** No meter counts these. */
const UNMETERED = 'page.seen';
export const REGIONS = ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'] as const;
export type Region = (typeof REGIONS)[number];

export type MixEvent = {
  readonly name: string;
  /** Null when the customer of the event does not exist. */
  readonly customer: number | null;
  readonly region: Region;
  /** Which of the access log's properties it has. */
  readonly tail: number;
  /** How long before its sending it happened. */
  readonly lateMs: number;
};

const DAY_MS = 86_400_000;
const LATE_DAYS_MAX = 27;
/** Of a thousand events: without a meter, jobs, of unknown customers, days late. */
const SHARES = { unmetered: 10, jobs: 100, unknownCustomer: 5, late: 50 };
/** One slot in so many repeats an earlier event: 2 %. */
const REPEAT_EVERY = 50;

/** A draw below `bound` for the number; each `salt` is a draw of its own. */
export function draw(number: number, salt: number, bound: number): number {
  return mixed(Math.imul(number, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca77)) % bound;
}

function nameOf(number: number): string {
  const drawn = draw(number, 1, 1_000);
  if (drawn < SHARES.unmetered) return UNMETERED;
  return drawn < SHARES.unmetered + SHARES.jobs ? JOB : REQUEST;
}

/** The event of this number, drawn from `tails` different properties. */
export function mixEvent(number: number, tails: number): MixEvent {
  const isUnknown = draw(number, 2, 1_000) < SHARES.unknownCustomer;
  const isLate = draw(number, 3, 1_000) < SHARES.late;
  return {
    name: nameOf(number),
    customer: isUnknown ? null : draw(number, 4, MIX_CUSTOMERS),
    region: REGIONS[draw(number, 5, REGIONS.length)] ?? 'r0',
    tail: draw(number, 6, tails),
    lateMs: isLate ? (1 + draw(number, 7, LATE_DAYS_MAX)) * DAY_MS : 0,
  };
}

export type Repeat = {
  /** Whether the repeated event is one of the last ones or any of all. */
  readonly isRecent: boolean;
  /** Picks the event in the range that `isRecent` gives: 0 to 1. */
  readonly at: number;
  /** Whether it comes with another payload under the same id. */
  readonly isConflict: boolean;
};

/** What the slot repeats; null when it has a new event. */
export function repeatOf(slot: number): Repeat | null {
  if (slot % REPEAT_EVERY !== REPEAT_EVERY - 1) return null;
  return {
    isRecent: draw(slot, 8, 2) === 0,
    at: draw(slot, 9, 2 ** 20) / 2 ** 20,
    isConflict: draw(slot, 10, 3) === 0,
  };
}

/** Each id is written into this one, between its dashes. */
const idBytes = Buffer.from('00000000-0000-0000-0000-000000000000');

export type Sending = {
  readonly number: number;
  readonly tails: readonly EventTail[];
  /** When the event of this number is meant to be sent. */
  readonly sentAtMs: number;
  readonly isConflict: boolean;
};

/** The JSON of the event. Another payload has another region and happened a day earlier. */
export function mixEventJson({ number, tails, sentAtMs, isConflict }: Sending): string {
  const { name, customer, region, tail, lateMs } = mixEvent(number, tails.length);
  writeEventId(idBytes, 0, number);
  const whose = customer === null ? `stranger-${number % 100}` : loadCustomer(customer);
  const at = new Date(sentAtMs - lateMs - (isConflict ? DAY_MS : 0)).toISOString();
  const where = isConflict ? 'elsewhere' : region;
  const properties = `${(tails[tail] ?? '').slice(0, -2)},"region":"${where}"}}`;
  const head = `{"event_name":"${name}","event_id":"${idBytes.toString('latin1')}"`;
  return `${head},"external_customer_id":"${whose}","timestamp":"${at}",${properties}`;
}
