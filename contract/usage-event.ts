import type { Environment } from './environment.js';
import type { InstantMs } from './instant.js';
import { isObject } from './is-object.js';

/** Timestamps of events lie in `[1970-01-01, 2200-01-01)` (docs/domain.md 7.1). */
export const EVENT_TIMESTAMP_END_MS: InstantMs = Date.UTC(2200, 0, 1);

/**
 * One usage event as it was accepted. Property values are texts: a number keeps its JSON text
 * (docs/domain.md 7.3).
 */
export type UsageEvent = {
  readonly eventId: string;
  readonly eventName: string;
  readonly externalCustomerId: string | null;
  readonly customerId: string | null;
  /** Empty when the sender gave none. */
  readonly source: string;
  readonly timestampMs: InstantMs;
  /**
   * Whether the sender gave the timestamp; only then does another one make a duplicate a conflict
   * (docs/domain.md 7.1).
   */
  readonly isTimestampGiven: boolean;
  readonly properties: Readonly<Record<string, string>>;
};

/**
 * What one log record of version 1 carries: one or more events of one environment that share a
 * partition, in request order. `records/record-parts.ts` puts several of them into one value.
 */
export type EventRecord = {
  readonly environment: Environment;
  readonly receivedAtMs: InstantMs;
  readonly events: readonly UsageEvent[];
};

/**
 * Raised whenever a reader of the previous version could misread a record; readers keep the older
 * branches.
 */
export const EVENT_RECORD_VERSION = 1;

type EventTuple = readonly [
  eventId: string,
  eventName: string,
  externalCustomerId: string | null,
  customerId: string | null,
  source: string,
  timestampMs: number,
  isTimestampGiven: 0 | 1,
  properties: Readonly<Record<string, string>>,
];

/**
 * JSON text of a record, version 1: events are tuples, since a bulk record repeats every member
 * name otherwise.
 */
export function encodeEventRecord(record: EventRecord): string {
  const events = record.events.map((event): EventTuple => [
    event.eventId,
    event.eventName,
    event.externalCustomerId,
    event.customerId,
    event.source,
    event.timestampMs,
    event.isTimestampGiven ? 1 : 0,
    event.properties,
  ]);
  return JSON.stringify({
    v: EVENT_RECORD_VERSION,
    t: record.environment.tenantId,
    e: record.environment.environmentId,
    r: record.receivedAtMs,
    events,
  });
}

export type UndecodableReason =
  'not_json' | 'unknown_version' | 'malformed_record' | 'malformed_event' | 'record_too_large';

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isProperties(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string');
}

function isEventTimestamp(value: unknown): value is InstantMs {
  return (
    Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < EVENT_TIMESTAMP_END_MS
  );
}

function isEventTuple(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length === 8;
}

function hasCustomer({ externalCustomerId, customerId }: UsageEvent): boolean {
  return (externalCustomerId ?? customerId) !== null;
}

function eventFromTuple(tuple: unknown): UsageEvent | null {
  if (!isEventTuple(tuple)) return null;
  const [
    eventId,
    eventName,
    externalCustomerId,
    customerId,
    source,
    timestampMs,
    given,
    properties,
  ] = tuple;
  const isNamed =
    typeof eventId === 'string' && typeof eventName === 'string' && typeof source === 'string';
  if (!isNamed || !isTextOrNull(externalCustomerId) || !isTextOrNull(customerId)) return null;
  if (!isEventTimestamp(timestampMs) || !isProperties(properties)) return null;
  const event = {
    eventId,
    eventName,
    externalCustomerId,
    customerId,
    source,
    timestampMs,
    isTimestampGiven: given === 1,
    properties,
  };
  return hasCustomer(event) ? event : null;
}

const ESCAPED_SURROGATE = /\\u[dD][89a-fA-F]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a text may hold half a surrogate pair: only then must its values be looked at. */
export function hasEscapedSurrogate(text: string): boolean {
  return ESCAPED_SURROGATE.test(text);
}

/**
 * Whether a text of the value holds half a surrogate pair, which no store can keep. Only an escape
 * can contain one, so one search of the text is enough for nearly every record.
 */
function hasLoneSurrogate(text: string): boolean {
  if (!hasEscapedSurrogate(text)) return false;
  let isFound = false;
  JSON.parse(text, (key, value: unknown) => {
    isFound ||=
      LONE_SURROGATE.test(key) || (typeof value === 'string' && LONE_SURROGATE.test(value));
    return value;
  });
  return isFound;
}

function eventsFromTuples(tuples: readonly unknown[]): readonly UsageEvent[] | null {
  const events: UsageEvent[] = [];
  for (const tuple of tuples) {
    const event = eventFromTuple(tuple);
    if (event === null) return null;
    events.push(event);
  }
  return events;
}

/** The record that a parsed value is. Its texts must be known to hold no half surrogate pair. */
export function recordFromValue(value: unknown): EventRecord | UndecodableReason {
  if (!isObject(value)) return 'malformed_record';
  if (value['v'] !== EVENT_RECORD_VERSION) return 'unknown_version';
  const { t: tenantId, e: environmentId, r: receivedAtMs, events: tuples } = value;
  if (typeof tenantId !== 'string' || typeof environmentId !== 'string') return 'malformed_record';
  if (!isEventTimestamp(receivedAtMs) || !Array.isArray(tuples)) return 'malformed_record';
  const events = eventsFromTuples(tuples);
  if (events === null) return 'malformed_event';
  return { environment: { tenantId, environmentId }, receivedAtMs, events };
}

/**
 * Reads a log record; a value that is no record of a known version comes back as the reason
 * (docs/internals/architecture.md I7).
 */
export function decodeEventRecord(text: string): EventRecord | UndecodableReason {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'not_json';
  }
  return hasLoneSurrogate(text) ? 'malformed_event' : recordFromValue(value);
}

/**
 * The text that usage rows carry as their customer: `e:` and the external id when the event has
 * one, else `i:` and the customer id (docs/domain.md 7.2). It needs no customer record, so an event
 * that comes before its customer counts as soon as the customer exists; readers ask for both texts
 * of a customer.
 */
export function customerKeyOfEvent(event: UsageEvent): string {
  return event.externalCustomerId === null
    ? `i:${event.customerId ?? ''}`
    : `e:${event.externalCustomerId}`;
}

/** Both customer texts under which the usage of one customer may stand. */
export function customerKeysOf(customer: {
  readonly id: string;
  readonly externalId: string;
}): readonly [string, string] {
  return [`e:${customer.externalId}`, `i:${customer.id}`];
}
