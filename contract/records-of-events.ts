import type { Environment } from './environment.js';
import { eventKey, partitionOf } from './event-key.js';
import type { InstantMs } from './instant.js';
import { encodeEventRecord, type UsageEvent } from './usage-event.js';

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
 * One record per target partition, its events in request order, so that of two events with one id
 * the earlier position is the first (docs/domain.md 7.1).
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
  const groups = new Map<number, { readonly key: string; readonly events: UsageEvent[] }>();
  for (const event of events) {
    const key = eventKey(environment, event.eventId);
    const partition = partitionOf(key, partitionCount);
    const group = groups.get(partition);
    if (group === undefined) groups.set(partition, { key, events: [event] });
    else group.events.push(event);
  }
  return [...groups].map(([partition, group]) => ({
    partition,
    key: group.key,
    value: encodeEventRecord({ environment, receivedAtMs, events: group.events }),
  }));
}
