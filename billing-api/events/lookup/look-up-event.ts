import { eventKey, partitionOf } from '../../../contract/event-key.js';
import { compileValueRule, type EventValue } from '../../../contract/event-value.js';
import { customerKeyOfEvent } from '../../../contract/usage-event.js';
import { readCheckpoints, type Checkpoints } from '../../usage/checkpoints.js';
import type { CountRepeats } from '../event-conflicts-store.js';
import { findCustomersOfKey } from './metered-lines.js';
import { countsEvent, findCountingMeters } from './event-meters.js';
import type { EventStore, StoredEvent } from '../events-store.js';
import { findFeaturesOfMeters } from '../../catalog/features/features-store.js';
import { hashText } from '../../../runtime/hash-text.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { PendingLog, PendingRecord } from '../pending-log.js';
import { type ReadDependencies, readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { findLinesOfEvent, type EventLine } from './lines-of-event.js';
import { isRefusal, notFound, Refusal } from '../../records/refusal.js';

export type LookUpDependencies = ReadDependencies & {
  readonly events: EventStore;
  readonly pendingLog: PendingLog;
  readonly countRepeats: CountRepeats;
};

/** What an event adds to one meter that counts it. */
export type EventOnMeter = {
  readonly meter: EffectiveMeter;
  /** The oldest published feature of the meter. */
  readonly featureId: string | null;
  readonly value: EventValue;
};

export type UnmatchedReason = 'unknown_customer' | 'no_meter_for_event_name' | 'no_matching_meter';

/** One event through every stage. */
export type EventTrace = {
  readonly event: StoredEvent;
  readonly status: 'pending' | 'counted' | 'unmatched';
  readonly reason: UnmatchedReason | null;
  readonly repeats: { readonly duplicates: number; readonly conflicts: number };
  readonly meters: readonly EventOnMeter[];
  readonly lines: readonly EventLine[];
};

/** The event with this id in a record of the log, as it would be stored. */
function eventIn({ record, place }: PendingRecord, eventId: string): StoredEvent | null {
  const index = record.events.findIndex((event) => event.eventId === eventId);
  const event = record.events[index];
  if (event === undefined) return null;
  const { eventName, customerId, source, timestampMs, properties } = event;
  return {
    ...{ eventId, eventName, customerId, source, timestampMs, properties },
    customerKey: customerKeyOfEvent(event),
    receivedAtMs: record.receivedAtMs,
    position: { ...place, index },
  };
}

/** The event in the part of the log that is not finished. */
async function findPending(
  { pendingLog }: LookUpDependencies,
  { environment }: Caller,
  { id, checkpoints }: { readonly id: string; readonly checkpoints: Checkpoints },
): Promise<StoredEvent | Refusal> {
  const { partitionCount } = await pendingLog.identity();
  const partition = partitionOf(eventKey(environment, id), partitionCount);
  let found: StoredEvent | null = null;
  const end = await pendingLog.scan({ checkpoints, partition }, (pending) => {
    const { tenantId, environmentId } = pending.record.environment;
    const isOwn = tenantId === environment.tenantId && environmentId === environment.environmentId;
    if (isOwn) found ??= eventIn(pending, id);
  });
  if (found !== null) return found;
  if (end === 'complete') return notFound('event', id);
  return new Refusal(
    'service_unavailable',
    'too many events wait to be processed to search them for this one; try again',
  );
}

/** Texts of the rule's properties; null for one that the event does not have. */
function valueOn(meter: EffectiveMeter, event: StoredEvent): EventValue {
  const rule = compileValueRule(meter.aggregation, hashText);
  const textOf = (property: string): string | null =>
    Object.hasOwn(event.properties, property) ? (event.properties[property] ?? null) : null;
  return rule.valueOf(rule.properties.map(textOf));
}

function reasonOf(found: {
  readonly isCustomerKnown: boolean;
  readonly named: number;
  readonly counting: number;
}): UnmatchedReason | null {
  if (!found.isCustomerKnown) return 'unknown_customer';
  if (found.counting > 0) return null;
  return found.named === 0 ? 'no_meter_for_event_name' : 'no_matching_meter';
}

/** What became of an event that is finished, by the meters and customers there are now. */
async function explain(
  { database }: LookUpDependencies,
  { environment }: Caller,
  event: StoredEvent,
): Promise<Pick<EventTrace, 'reason' | 'meters' | 'lines'>> {
  const named = await findCountingMeters(database, environment, event.eventName);
  const counting = named.filter((meter) => countsEvent(meter, event));
  const meterIds = counting.map(({ meterId }) => meterId);
  return readUnit({ database }, environment, async ({ tx: transaction }) => {
    const customers = await findCustomersOfKey(transaction, event.customerKey);
    const customerIds = customers.map(({ id }) => id);
    const features = await findFeaturesOfMeters(transaction, meterIds);
    const featureOf = (meterId: string): string | null =>
      features.find((feature) => feature.meter_id === meterId)?.id ?? null;
    const meters = counting.map((meter) => ({
      meter,
      featureId: featureOf(meter.meterId),
      value: valueOn(meter, event),
    }));
    const lines = await findLinesOfEvent(transaction, event, { customerIds, meterIds });
    const isCustomerKnown = customers.length > 0;
    const reason = reasonOf({ isCustomerKnown, named: named.length, counting: counting.length });
    return { reason, meters, lines };
  });
}

/** GET /events/lookup (api.md 10.2): one event through every stage. */
export async function lookUpEvent(
  dependencies: LookUpDependencies,
  caller: Caller,
  id: string,
): Promise<EventTrace | Refusal> {
  // Before anything else: what lies below is in ClickHouse when it is asked.
  const checkpoints = await readCheckpoints(dependencies.database);
  const stored = (await dependencies.events.find(caller.environment, [id])).get(id);
  const event = stored ?? (await findPending(dependencies, caller, { id, checkpoints }));
  if (isRefusal(event)) return event;
  const repeats = await dependencies.countRepeats(caller.environment, event);
  if (!checkpoints.isFinished(event.position)) {
    return { event, status: 'pending', reason: null, repeats, meters: [], lines: [] };
  }
  const explained = await explain(dependencies, caller, event);
  const status = explained.reason === null ? 'counted' : 'unmatched';
  return { event, status, repeats, ...explained };
}
