import { ZERO } from '../../contract/decimal.js';
import type { Environment } from '../../contract/environment.js';
import { compileValueRule, type HashText, type ValueRule } from '../../contract/event-value.js';
import { meterMatches, type MeterDefinition } from '../../contract/meter.js';
import type { UsageEvent } from '../../contract/usage-event.js';

/** A meter and the rule of its values, compiled when its first event asks for it. */
export type IndexedMeter = {
  readonly definition: MeterDefinition;
  readonly rule: () => ValueRule;
};

/** All meters in force in one catalog version, found by environment and event name. */
export type MeterIndex = ReadonlyMap<string, readonly IndexedMeter[]>;

function indexKey(environment: Environment, eventName: string): string {
  return `${environment.tenantId}|${environment.environmentId}|${eventName}`;
}

/** By id, the definitions of one meter by generation: what a batch writes stands in this order. */
function compareMeters(left: MeterDefinition, right: MeterDefinition): number {
  if (left.meterId !== right.meterId) return left.meterId < right.meterId ? -1 : 1;
  return left.generation - right.generation;
}

/**
 * The rule of a meter. One that was accepted and does not compile is a bug of ours; it must not
 * stop the events of everybody else, so its values are unreadable: 0, counted and visible.
 */
function ruleOf({ aggregation }: MeterDefinition, hashText: HashText): ValueRule {
  try {
    return compileValueRule(aggregation, hashText);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const unreadable = { value: ZERO, isUnreadable: true, unique: null };
    return { type: aggregation.type, properties: [], valueOf: () => unreadable };
  }
}

function indexed(definition: MeterDefinition, hashText: HashText): IndexedMeter {
  let compiled: ValueRule | null = null;
  return { definition, rule: () => (compiled ??= ruleOf(definition, hashText)) };
}

/**
 * Builds the index once per catalog version; a meter that is being changed is there twice.
 * `hashText` tells the texts of COUNT_UNIQUE apart.
 */
export function indexMeters(meters: readonly MeterDefinition[], hashText: HashText): MeterIndex {
  const index = new Map<string, IndexedMeter[]>();
  const ordered = [...meters].sort(compareMeters);
  for (const meter of ordered) {
    const key = indexKey(meter.environment, meter.eventName);
    const group = index.get(key);
    if (group === undefined) index.set(key, [indexed(meter, hashText)]);
    else group.push(indexed(meter, hashText));
  }
  return index;
}

/** The meters an event counts on (docs/domain.md 7.3). */
export function metersOfEvent(
  index: MeterIndex,
  environment: Environment,
  event: UsageEvent,
): readonly IndexedMeter[] {
  const group = index.get(indexKey(environment, event.eventName));
  return group === undefined
    ? []
    : group.filter(({ definition }) => meterMatches(definition, event));
}
