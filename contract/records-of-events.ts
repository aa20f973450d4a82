import type { Environment } from './environment.js';
import { eventKey, partitionOf } from './event-key.js';
import type { InstantMs } from './instant.js';
import { encodeEventRecord, type UsageEvent } from './usage-event.js';
import { MINUTE_CHARACTERS_MAX } from './usage-minute.js';

/** Events of one bulk request, and so of one record at most (docs/http.md 1.7). */
export const BULK_EVENTS_MAX = 1_000;

export type RecordContext = {
  readonly environment: Environment;
  readonly receivedAtMs: InstantMs;
  readonly partitionCount: number;
};

/** One log record: what `EventLogWriter.append` takes. */
export type PartitionRecord = {
  readonly partition: number;
  /** The event key of the record's first event. */
  readonly key: string;
  readonly value: string;
};

/**
 * Characters of the usage rows of one record for each meter, counted as if every event made a row.
 * 500 meters of an event name, each on two versions, then make one text of rows at most
 * (docs/internals/architecture.md 3.4).
 */
export const RECORD_CHARACTERS_MAX = 440 * 1024;

/** Characters that the events of a record add to the usage rows of one meter, at most. */
export function usageCharactersOf(value: string, eventCount: number): number {
  return value.length + eventCount * MINUTE_CHARACTERS_MAX;
}

type Group = { readonly partition: number; readonly key: string; readonly events: UsageEvent[] };

/** The records of events of one partition: one, and several only if these are many or long. */
function recordsOfGroup(
  { partition, key, events }: Group,
  context: RecordContext,
): readonly PartitionRecord[] {
  const { environment, receivedAtMs } = context;
  const { length } = events;
  if (length <= BULK_EVENTS_MAX) {
    const value = encodeEventRecord({ environment, receivedAtMs, events });
    const isSmall = usageCharactersOf(value, length) <= RECORD_CHARACTERS_MAX;
    // An event is far smaller, so that halves end.
    if (isSmall || length === 1) return [{ partition, key, value }];
  }
  const middle = Math.ceil(length / 2);
  return [events.slice(0, middle), events.slice(middle)].flatMap((half) => {
    const [first] = half;
    const keyOfHalf = first === undefined ? key : eventKey(environment, first.eventId);
    return recordsOfGroup({ partition, key: keyOfHalf, events: half }, context);
  });
}

/**
 * One record per target partition, or several when its events are long together, with the events in
 * request order, so that of two events with one id the earlier position is the first
 * (docs/domain.md 7.1).
 */
export function recordsOfEvents(
  events: readonly UsageEvent[],
  context: RecordContext,
): readonly PartitionRecord[] {
  const { environment, receivedAtMs, partitionCount } = context;
  const [only] = events;
  if (only !== undefined && events.length === 1) {
    const key = eventKey(environment, only.eventId);
    const value = encodeEventRecord({ environment, receivedAtMs, events });
    return [{ partition: partitionOf(key, partitionCount), key, value }];
  }
  const groups = new Map<number, Group>();
  for (const event of events) {
    const key = eventKey(environment, event.eventId);
    const partition = partitionOf(key, partitionCount);
    const group = groups.get(partition);
    if (group === undefined) groups.set(partition, { partition, key, events: [event] });
    else group.events.push(event);
  }
  return [...groups.values()].flatMap((group) => recordsOfGroup(group, context));
}
