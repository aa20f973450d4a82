import { parseInstant, type InstantMs } from '../../contract/instant.js';
import type { UsageEvent } from '../../contract/usage-event.js';
import { acceptProperties } from './accept-properties.js';
import { EVENT_BYTES_MAX, isEventTooLarge } from './event-size.js';
import { plainEventOf, type EventSource } from './event-source.js';
import { isStorable, isTooLong, TEXT_CHARACTERS_MAX, UNSTORABLE_PROBLEM } from './event-text.js';
import { isObject } from './is-object.js';
import { shownName, type Refusal } from './refusal.js';

/** What an event is judged by besides itself. */
export type AcceptContext = {
  readonly receivedAtMs: InstantMs;
  /** The id of an event that brought none, by its position in the request. */
  readonly eventIdAt: (position: number) => string;
};

export type EventOutcome =
  | { readonly kind: 'accepted'; readonly event: UsageEvent }
  | {
      readonly kind: 'refused';
      /** The id that the event brought, when that could have been accepted. */
      readonly eventId: string | null;
      readonly refusal: Refusal;
    };

/** The first instant that is too late (domain.md 7.1): ClickHouse's DateTime64 ends in 2299. */
const TIMESTAMP_END_MS = Date.UTC(2200, 0, 1);

const TEXT_MEMBERS = [
  'event_name',
  'event_id',
  'external_customer_id',
  'customer_id',
  'source',
] as const;

const MEMBERS: ReadonlySet<string> = new Set([...TEXT_MEMBERS, 'timestamp', 'properties']);

type RawEvent = Readonly<Record<string, unknown>>;

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** The text of a member that `textRefusal` has let pass; null when absent. */
function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * A customer reference; the empty text means absent (domain.md 3.1), and so does a blank one, since
 * no customer can have it: its usage would stay unmatched for ever.
 */
function referenceOrNull(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

const NOT_A_TEXT = 'is not a text: send it in double quotes';

function textProblem(value: unknown, isTrimmed: boolean, mayBeUnstorable: boolean): string | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'string') return NOT_A_TEXT;
  if (isTooLong(isTrimmed ? value.trim() : value)) {
    return `is too long: send at most ${TEXT_CHARACTERS_MAX} characters`;
  }
  return mayBeUnstorable && !isStorable(value) ? UNSTORABLE_PROBLEM : null;
}

/** Whether a string of this document can have been a number in its source. */
function mayBeQuotedNumber(value: unknown): boolean {
  return typeof value === 'string' && /^-?[0-9]/.test(value) && String(Number(value)) !== value;
}

function wasNumber(member: string, source: EventSource): boolean {
  return typeof plainEventOf(source)[member] === 'number';
}

function textRefusal(event: RawEvent, source: EventSource): Refusal | null {
  const { hasQuotedNumbers, hasUnicodeEscapes } = source.document;
  for (const member of TEXT_MEMBERS) {
    const value = event[member];
    const problem = textProblem(value, member === 'event_name', hasUnicodeEscapes);
    if (problem !== null) return { member, problem };
    if (hasQuotedNumbers && mayBeQuotedNumber(value) && wasNumber(member, source)) {
      return { member, problem: NOT_A_TEXT };
    }
  }
  if (event['event_id'] === '') {
    const problem = 'is empty: send 1 to 255 characters, or leave it out to have one generated';
    return { member: 'event_id', problem };
  }
  return null;
}

function requiredRefusal(event: RawEvent): Refusal | null {
  if ((textOrNull(event['event_name']) ?? '').trim() === '') {
    return { member: 'event_name', problem: 'is required: send the name that your meters count' };
  }
  const hasCustomer =
    referenceOrNull(event['external_customer_id']) ?? referenceOrNull(event['customer_id']);
  if (hasCustomer !== null) return null;
  return {
    member: 'external_customer_id',
    problem: 'or customer_id is required: send at least one of them',
  };
}

function unknownMemberRefusal(event: RawEvent): Refusal | null {
  for (const member of Object.keys(event)) {
    if (!MEMBERS.has(member)) {
      const problem = 'is not a member of an event: put your own data into properties';
      return { member: shownName(member), problem };
    }
  }
  return null;
}

function timestampOf(value: unknown, receivedAtMs: InstantMs): InstantMs | Refusal {
  if (isAbsent(value)) return receivedAtMs;
  const instant = typeof value === 'string' ? parseInstant(value) : null;
  if (instant === null) {
    const problem =
      'is not a date-time that exists: send ISO 8601 with an offset or Z, as 2026-01-31T23:59:59.999Z';
    return { member: 'timestamp', problem };
  }
  if (instant < 0 || instant >= TIMESTAMP_END_MS) {
    const problem = 'is out of range: send a time from 1970-01-01 to the end of 2199';
    return { member: 'timestamp', problem };
  }
  return instant;
}

type PropertiesOutcome =
  | { readonly kind: 'accepted'; readonly properties: Readonly<Record<string, string>> }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

function refuseProperties(member: string, problem: string): PropertiesOutcome {
  return { kind: 'refused', refusal: { member, problem } };
}

function propertiesOf(event: RawEvent, source: EventSource): PropertiesOutcome {
  const parsed = isAbsent(event['properties']) ? {} : event['properties'];
  if (!isObject(parsed)) {
    return refuseProperties('properties', 'is not an object: send {"key": "value"}');
  }
  const texts = acceptProperties(parsed, source.document.hasUnicodeEscapes);
  if ('problem' in texts) return { kind: 'refused', refusal: texts };
  const { properties, propertyCount } = texts;
  const codeUnits = texts.codeUnits + (textOrNull(event['event_name']) ?? '').length;
  if (!isEventTooLarge(source, { codeUnits, propertyCount })) {
    return { kind: 'accepted', properties };
  }
  const problem = `is larger than ${EVENT_BYTES_MAX} bytes: send fewer or shorter properties`;
  return refuseProperties('event', problem);
}

function refused(event: RawEvent | null, refusal: Refusal): EventOutcome {
  const eventId = event === null ? null : textOrNull(event['event_id']);
  const isUsable = eventId !== null && eventId !== '' && isStorable(eventId) && !isTooLong(eventId);
  return { kind: 'refused', eventId: isUsable ? eventId : null, refusal };
}

/**
 * Judges one event (api.md 10.1, domain.md 3.1, 7.1, 7.3): accepted with every value normalised, or
 * refused with the first problem in this order: unknown member, texts, required members,
 * timestamp, properties, size.
 */
export function acceptEvent(source: EventSource, context: AcceptContext): EventOutcome {
  const event = source.value;
  if (!isObject(event)) {
    return refused(null, { member: 'event', problem: 'is not an object: send {"event_name": …}' });
  }
  const refusal =
    unknownMemberRefusal(event) ?? textRefusal(event, source) ?? requiredRefusal(event);
  if (refusal !== null) return refused(event, refusal);
  const timestampMs = timestampOf(event['timestamp'], context.receivedAtMs);
  if (typeof timestampMs !== 'number') return refused(event, timestampMs);
  const properties = propertiesOf(event, source);
  if (properties.kind === 'refused') return refused(event, properties.refusal);
  return {
    kind: 'accepted',
    event: {
      eventId: textOrNull(event['event_id']) ?? context.eventIdAt(source.position),
      eventName: (textOrNull(event['event_name']) ?? '').trim(),
      externalCustomerId: referenceOrNull(event['external_customer_id']),
      customerId: referenceOrNull(event['customer_id']),
      source: textOrNull(event['source']) ?? '',
      timestampMs,
      isTimestampGiven: !isAbsent(event['timestamp']),
      properties: properties.properties,
    },
  };
}
