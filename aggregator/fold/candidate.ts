import { eventKey } from '../../contract/event-key.js';
import type { Environment } from '../../contract/environment.js';
import type { HashText } from '../../contract/event-value.js';
import type { InstantMs } from '../../contract/instant.js';
import { decodeRecordParts } from '../../contract/records/record-parts.js';
import type { EventRecord, UndecodableReason, UsageEvent } from '../../contract/usage-event.js';
import { meterKey } from './meter-index.js';

/** A record of the log, as the fold needs it. */
export type SourceRecord = {
  readonly offset: number;
  readonly appendedAtMs: InstantMs;
  readonly value: string;
};

/** An event of the batch before it is known whether its id has been counted. */
export type Candidate = {
  readonly environment: Environment;
  readonly event: UsageEvent;
  /** Where a catalog has its meters (`meterKey`). */
  readonly meterKey: string;
  readonly receivedAtMs: InstantMs;
  readonly appendedAtMs: InstantMs;
  readonly offset: number;
  /** Position inside the log record, counted through all its parts. */
  readonly index: number;
  /** 32 hexadecimal digits: identity of the event. */
  readonly idHash: string;
  /** 16 hexadecimal digits: what a duplicate is compared with. */
  readonly payloadHash: string;
};

export type DeadLetter = {
  readonly offset: number;
  readonly appendedAtMs: InstantMs;
  readonly reason: UndecodableReason;
  readonly payload: string;
};

export type DecodedRecord = {
  readonly offset: number;
  readonly appendedAtMs: InstantMs;
  readonly candidates: readonly Candidate[];
  readonly deadLetter: DeadLetter | null;
};

/**
 * Text that is equal for two events exactly when a duplicate is no conflict, the timestamp aside
 * (docs/domain.md 7.1). The order of properties means nothing, so keys are sorted.
 */
function payloadText(event: UsageEvent): string {
  const { properties } = event;
  return JSON.stringify([
    event.eventName,
    event.externalCustomerId,
    event.customerId,
    event.source,
    Object.keys(properties)
      .sort()
      .map((key) => [key, properties[key]]),
  ]);
}

/**
 * An event with the hashes by which it is known again. The members are named one by one here and
 * below: copying them from other objects (`...`) takes 2 µs an event, a twelfth of a batch.
 */
export function candidateOf(
  of: Omit<Candidate, 'idHash' | 'payloadHash'>,
  hashText: HashText,
): Candidate {
  const { environment, event, meterKey, receivedAtMs, appendedAtMs, offset, index } = of;
  return {
    environment,
    event,
    meterKey,
    receivedAtMs,
    appendedAtMs,
    offset,
    index,
    idHash: hashText(eventKey(environment, event.eventId)),
    payloadHash: hashText(payloadText(event)).slice(0, 16),
  };
}

/** The events of one part of a record, the first of which has this index. */
function candidatesOf(
  { environment, receivedAtMs, events }: EventRecord,
  { offset, appendedAtMs }: SourceRecord,
  from: { readonly index: number; readonly hashText: HashText },
): Candidate[] {
  // One text for all events of a name, since a batch has many events and few names.
  const keys = new Map<string, string>();
  return events.map((event, position) => {
    const key = keys.get(event.eventName) ?? meterKey(environment, event.eventName);
    keys.set(event.eventName, key);
    const index = from.index + position;
    const of = { environment, event, meterKey: key, receivedAtMs, appendedAtMs, offset, index };
    return candidateOf(of, from.hashText);
  });
}

/**
 * Decodes one log record; what cannot be decoded becomes a dead letter and is never
 * dropped silently (docs/internals/architecture.md I7).
 */
export function decodeRecord(record: SourceRecord, hashText: HashText): DecodedRecord {
  const { offset, appendedAtMs } = record;
  const { parts, unreadable } = decodeRecordParts(record.value);
  const candidates: Candidate[] = [];
  for (const part of parts) {
    const index = candidates.length;
    for (const candidate of candidatesOf(part, record, { index, hashText })) {
      candidates.push(candidate);
    }
  }
  const deadLetter =
    unreadable === null
      ? null
      : { offset, appendedAtMs, reason: unreadable.reason, payload: unreadable.text };
  return { offset, appendedAtMs, candidates, deadLetter };
}
