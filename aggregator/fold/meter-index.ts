import { ZERO } from '../../contract/number/decimal.js';
import { environmentKey, type Environment } from '../../contract/environment.js';
import { compileValueRule, type HashText, type ValueRule } from '../../contract/event-value.js';
import { meterMatches, type MeterDefinition } from '../../contract/meter.js';
import type { UsageEvent } from '../../contract/usage-event.js';

/** A meter and the rule of its values, which is compiled for its first event. */
export type IndexedMeter = {
  readonly definition: MeterDefinition;
  readonly rule: () => ValueRule;
};

/**
 * All meters in force in one catalog version, found by environment and event name (`meterKey`).
 * Those of a key are in order (`compareMeters`), since the rows of a batch depend on it.
 */
export type MeterIndex = Pick<ReadonlyMap<string, readonly IndexedMeter[]>, 'get'>;

export function meterKey(environment: Environment, eventName: string): string {
  return `${environmentKey(environment)}|${eventName}`;
}

/** By id, then by generation: the order in which a batch writes the rows of an event. */
export function compareMeters(left: MeterDefinition, right: MeterDefinition): number {
  if (left.meterId !== right.meterId) return left.meterId < right.meterId ? -1 : 1;
  return left.generation - right.generation;
}

/**
 * The rule of a meter. An accepted rule that does not compile is a bug of ours. It must not stop
 * the events of all other meters, so its values are unreadable, which is counted and shown.
 */
function ruleOf({ aggregation }: MeterDefinition, hashText: HashText): ValueRule {
  try {
    return compileValueRule(aggregation, hashText);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const unreadable = { value: ZERO, isUnreadable: true, unique: null };
    return { type: aggregation.type, properties: [], cost: 0, valueOf: () => unreadable };
  }
}

export function indexMeter(definition: MeterDefinition, hashText: HashText): IndexedMeter {
  let compiled: ValueRule | null = null;
  return { definition, rule: () => (compiled ??= ruleOf(definition, hashText)) };
}

/**
 * Builds the index, once per catalog version; a meter that is being changed has two entries.
 * `hashText` tells the texts of COUNT_UNIQUE apart.
 */
export function indexMeters(meters: readonly MeterDefinition[], hashText: HashText): MeterIndex {
  const index = new Map<string, IndexedMeter[]>();
  const ordered = [...meters].sort(compareMeters);
  for (const meter of ordered) {
    const key = meterKey(meter.environment, meter.eventName);
    const group = index.get(key);
    if (group === undefined) index.set(key, [indexMeter(meter, hashText)]);
    else group.push(indexMeter(meter, hashText));
  }
  return index;
}

/** Those of the meters of its key that an event counts on (docs/domain.md 7.3). */
export function metersOfEvent(
  group: readonly IndexedMeter[],
  event: UsageEvent,
): readonly IndexedMeter[] {
  return group.filter(({ definition }) => meterMatches(definition, event));
}
