import type { Environment } from '../../../contract/environment.js';
import { eventKey, partitionOf } from '../../../contract/event-key.js';
import { customerKeyOfEvent } from '../../../contract/usage-event.js';
import { notFound, Refusal } from '../../records/refusal.js';
import type { Checkpoints } from '../../usage/watermark/checkpoints.js';
import type { StoredEvent } from '../../events/events-store.js';
import type { PendingLog, PendingRecord } from '../../events/pending-log.js';

/** The event with this id in a record of the log, as it would be stored. */
function eventIn(
  { record, place, firstIndex }: PendingRecord,
  eventId: string,
): StoredEvent | null {
  const index = record.events.findIndex((event) => event.eventId === eventId);
  const event = record.events[index];
  if (event === undefined) return null;
  const { eventName, customerId, source, timestampMs, properties } = event;
  return {
    eventId,
    eventName,
    customerId,
    source,
    timestampMs,
    properties,
    customerKey: customerKeyOfEvent(event),
    correction: 0,
    receivedAtMs: record.receivedAtMs,
    position: { ...place, index: firstIndex + index },
  };
}

/** Finds an event in the part of the log that is not finished. */
export async function findPendingEvent(
  pendingLog: PendingLog,
  environment: Environment,
  { id, checkpoints }: { readonly id: string; readonly checkpoints: Checkpoints },
): Promise<StoredEvent | Refusal> {
  const { partitionCount } = await pendingLog.identity();
  const partition = partitionOf(eventKey(environment, id), partitionCount);
  let found: StoredEvent | null = null;
  const end = await pendingLog.scan({ environment, checkpoints, partition }, (pending) => {
    found ??= eventIn(pending, id);
  });
  if (found !== null) return found;
  if (end === 'complete') return notFound('event', id);
  return new Refusal(
    'service_unavailable',
    'too many events are waiting to be searched for this one; try again later',
  );
}
