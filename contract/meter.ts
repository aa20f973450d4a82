import type { MeterAggregation } from './aggregation.js';
import type { Environment } from './environment.js';
import type { UsageEvent } from './usage-event.js';

/**
 * Published meters of one event name in an environment (docs/http.md 1.7), so that the usage rows
 * of one record of the log fit into one insert (docs/internals/architecture.md 3.4).
 */
export const METERS_OF_EVENT_NAME_MAX = 500;

/**
 * What the expressions of these meters may cost an event together, in microseconds: as much as so
 * many meters that count. Events of all tenants are counted on one thread, and those of one record
 * cannot be divided, so that a record of 1,000 events takes some seconds at most.
 */
export const EXPRESSIONS_COST_MAX = 5_000;

/** A meter that is being changed counts on its version before and on its new one. */
export const VERSIONS_COUNTED_MAX = 2;

export type MeterFilter = { readonly key: string; readonly values: readonly string[] };

/** One version of a meter as the aggregator applies it. */
export type MeterDefinition = {
  readonly environment: Environment;
  readonly meterId: string;
  readonly version: number;
  readonly eventName: string;
  readonly filters: readonly MeterFilter[];
  readonly aggregation: MeterAggregation;
  /** Names the set of usage rows that this version's live stream writes. */
  readonly generation: number;
};

/**
 * Whether an event counts on a meter (docs/domain.md 7.3): same event name, and for every filter
 * the property exists and its text is one of the values. Environments are compared by the caller,
 * who looks meters up by them.
 */
export function meterMatches(
  meter: Pick<MeterDefinition, 'eventName' | 'filters'>,
  event: Pick<UsageEvent, 'eventName' | 'properties'>,
): boolean {
  if (meter.eventName !== event.eventName) return false;
  return meter.filters.every((filter) => {
    if (!Object.hasOwn(event.properties, filter.key)) return false;
    const text = event.properties[filter.key];
    return text !== undefined && filter.values.includes(text);
  });
}
