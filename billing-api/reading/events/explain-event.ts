import type { Environment } from '../../../contract/environment.js';
import { compileValueRule, type EventValue } from '../../../contract/event-value.js';
import { findFeaturesOfMeters } from '../../catalog/features/features-store.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { hashText } from '../../../runtime/hash-text.js';
import type { ReadDependencies } from '../../records/unit.js';
import type { StoredEvent } from '../../events/events-store.js';
import { countsEvent, findCountingMeters } from '../../events/event-meters.js';
import { findLinesOfEvent, type EventLine } from './lines-of-event.js';
import { findCustomersOfKey } from './metered-lines.js';

/** What an event adds to one meter that counts it. */
export type EventOnMeter = {
  readonly meter: EffectiveMeter;
  /** The oldest published feature of the meter. */
  readonly featureId: string | null;
  readonly value: EventValue;
};

export type UnmatchedReason = 'unknown_customer' | 'no_meter_for_event_name' | 'no_matching_meter';

/** What became of an event. */
export type EventExplanation = {
  /** Null when the event is counted. */
  readonly reason: UnmatchedReason | null;
  readonly meters: readonly EventOnMeter[];
  readonly lines: readonly EventLine[];
};

/** The value that an event contributes to a meter. */
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

/** Explains a finished event by the meters and customers that exist now. */
export async function explainEvent(
  { database }: ReadDependencies,
  environment: Environment,
  event: StoredEvent,
): Promise<EventExplanation> {
  const named = await findCountingMeters(database, environment, event.eventName);
  const counting = named.filter((meter) => countsEvent(meter, event));
  const meterIds = counting.map(({ meterId }) => meterId);
  return database.readSnapshot(environment, async (transaction) => {
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
