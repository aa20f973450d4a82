import type { Environment } from '../../contract/environment.js';
import { meterMatches, type MeterDefinition } from '../../contract/meter.js';
import type { UsageEvent } from '../../contract/usage-event.js';

/** All meters in force in one catalog version, found by environment and event name. */
export type MeterIndex = ReadonlyMap<string, readonly MeterDefinition[]>;

function indexKey(environment: Environment, eventName: string): string {
  return `${environment.tenantId}|${environment.environmentId}|${eventName}`;
}

/** By id, the definitions of one meter by generation: what a batch writes stands in this order. */
function compareMeters(left: MeterDefinition, right: MeterDefinition): number {
  if (left.meterId !== right.meterId) return left.meterId < right.meterId ? -1 : 1;
  return left.generation - right.generation;
}

/** Builds the index once per catalog version; a meter that is being changed is there twice. */
export function indexMeters(meters: readonly MeterDefinition[]): MeterIndex {
  const index = new Map<string, MeterDefinition[]>();
  const ordered = [...meters].sort(compareMeters);
  for (const meter of ordered) {
    const key = indexKey(meter.environment, meter.eventName);
    const group = index.get(key);
    if (group === undefined) index.set(key, [meter]);
    else group.push(meter);
  }
  return index;
}

/** The meters an event counts on (domain.md 7.3). */
export function metersOfEvent(
  index: MeterIndex,
  environment: Environment,
  event: UsageEvent,
): readonly MeterDefinition[] {
  const group = index.get(indexKey(environment, event.eventName));
  return group === undefined ? [] : group.filter((meter) => meterMatches(meter, event));
}
