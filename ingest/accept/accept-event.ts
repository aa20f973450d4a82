import { parseInstant, type InstantMs } from '../../contract/instant.js';
import { EVENT_TIMESTAMP_END_MS, type UsageEvent } from '../../contract/usage-event.js';
import { acceptProperties } from './accept-properties.js';
import { EVENT_BYTES_MAX, isEventTooLarge } from './event-size.js';
import { plainEventOf, type EventSource } from './event-source.js';
import { isStorable, isTooLong, TEXT_CHARACTERS_MAX, UNSTORABLE_PROBLEM } from './event-text.js';
import { isObject } from '../../contract/is-object.js';
import { shownName, type EventProblem } from './event-problem.js';

/** What is needed to accept an event besides the event. */
export type AcceptContext = {
  readonly receivedAtMs: InstantMs;
  /** The id of an event that came without one, by its position in the request. */
  readonly eventIdAt: (position: number) => string;
};

export type EventOutcome =
  | { readonly kind: 'accepted'; readonly event: UsageEvent }
  | {
      readonly kind: 'rejected';
      /** The id that the event came with, when it is a valid id. */
      readonly eventId: string | null;
      readonly problem: EventProblem;
    };

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

/** The text of a member that has passed `findTextProblem`; null when absent. */
function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * A customer reference; null when absent. Empty counts as absent (docs/domain.md 3.1), and so does
 * blank: no customer can have a blank id, so the usage would stay unmatched for ever.
 */
function referenceOrNull(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

const NOT_A_TEXT = 'must be a text: send it in double quotes';

function textProblem(value: unknown, isTrimmed: boolean, mayBeUnstorable: boolean): string | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'string') return NOT_A_TEXT;
  if (isTooLong(isTrimmed ? value.trim() : value)) {
    return `is too long: send at most ${TEXT_CHARACTERS_MAX} characters`;
  }
  return mayBeUnstorable && !isStorable(value) ? UNSTORABLE_PROBLEM : null;
}

/** Whether a string of the parsed document may have been a number in the body. */
function mayBeQuotedNumber(value: unknown): boolean {
  return typeof value === 'string' && /^-?[0-9]/.test(value) && String(Number(value)) !== value;
}

function wasNumber(member: string, source: EventSource): boolean {
  return typeof plainEventOf(source)[member] === 'number';
}

function findTextProblem(event: RawEvent, source: EventSource): EventProblem | null {
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

function findMissingMember(event: RawEvent): EventProblem | null {
  if ((textOrNull(event['event_name']) ?? '').trim() === '') {
    return { member: 'event_name', problem: 'is required: send the name that your meters count' };
  }
  const hasCustomer =
    referenceOrNull(event['external_customer_id']) ?? referenceOrNull(event['customer_id']);
  if (hasCustomer !== null) return null;
  return {
    member: 'external_customer_id',
    problem: 'is required, or customer_id: send at least one of them',
  };
}

function findUnknownMember(event: RawEvent): EventProblem | null {
  for (const member of Object.keys(event)) {
    if (!MEMBERS.has(member)) {
      const problem = 'is not a member of an event: put your own data into properties';
      return { member: shownName(member), problem };
    }
  }
  return null;
}

function timestampOf(value: unknown, receivedAtMs: InstantMs): InstantMs | EventProblem {
  if (isAbsent(value)) return receivedAtMs;
  const instant = typeof value === 'string' ? parseInstant(value) : null;
  if (instant === null) {
    const problem =
      'is not a valid date-time: send ISO 8601 with an offset or Z, such as 2026-01-31T23:59:59.999Z';
    return { member: 'timestamp', problem };
  }
  if (instant < 0 || instant >= EVENT_TIMESTAMP_END_MS) {
    const problem = 'is out of range: send a time from 1970-01-01 to the end of 2199';
    return { member: 'timestamp', problem };
  }
  return instant;
}

type PropertiesOutcome =
  | { readonly kind: 'accepted'; readonly properties: Readonly<Record<string, string>> }
  | { readonly kind: 'rejected'; readonly problem: EventProblem };

function rejectProperties(member: string, problem: string): PropertiesOutcome {
  return { kind: 'rejected', problem: { member, problem } };
}

function propertiesOf(event: RawEvent, source: EventSource): PropertiesOutcome {
  const parsed = isAbsent(event['properties']) ? {} : event['properties'];
  if (!isObject(parsed)) {
    return rejectProperties('properties', 'is not an object: send {"key": "value"}');
  }
  const texts = acceptProperties(parsed, source.document.hasUnicodeEscapes);
  if ('problem' in texts) return { kind: 'rejected', problem: texts };
  const { properties, propertyCount } = texts;
  const codeUnits = texts.codeUnits + (textOrNull(event['event_name']) ?? '').length;
  if (!isEventTooLarge(source, { codeUnits, propertyCount })) {
    return { kind: 'accepted', properties };
  }
  const problem = `is larger than ${EVENT_BYTES_MAX} bytes: send fewer or shorter properties`;
  return rejectProperties('event', problem);
}

function rejected(event: RawEvent | null, problem: EventProblem): EventOutcome {
  const eventId = event === null ? null : textOrNull(event['event_id']);
  const isUsable = eventId !== null && eventId !== '' && isStorable(eventId) && !isTooLong(eventId);
  return { kind: 'rejected', eventId: isUsable ? eventId : null, problem };
}

/**
 * Checks one event (docs/http.md 10.1, docs/domain.md 3.1, 7.1, 7.3). It is accepted with every
 * value normalised, or rejected with its first problem in this order: unknown member, texts,
 * required members, timestamp, properties, size.
 */
export function acceptEvent(source: EventSource, context: AcceptContext): EventOutcome {
  const event = source.value;
  if (!isObject(event)) {
    return rejected(null, { member: 'event', problem: 'is not an object: send {"event_name": …}' });
  }
  const problem =
    findUnknownMember(event) ?? findTextProblem(event, source) ?? findMissingMember(event);
  if (problem !== null) return rejected(event, problem);
  const timestampMs = timestampOf(event['timestamp'], context.receivedAtMs);
  if (typeof timestampMs !== 'number') return rejected(event, timestampMs);
  const properties = propertiesOf(event, source);
  if (properties.kind === 'rejected') return rejected(event, properties.problem);
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
