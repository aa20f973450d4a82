import { matches } from '../usage-oracle/counted-events.js';
import type { Fraction } from '../usage-oracle/fraction.js';
import type { OracleFilter, OracleMeter } from '../usage-oracle/meter.js';
import { propertyOf, type OracleEvent } from '../usage-oracle/usage-event.js';
import { valueOfWindow } from '../usage-oracle/window-value.js';
import { bucketAt, type Division, type Range } from '../usage-oracle/windows.js';
import { bucketsIn, type Bucket } from './buckets.js';
import { sum } from './exact.js';

/** A meter, the events that count on it, and how its buckets divide time. */
export type Measured = {
  readonly meter: OracleMeter;
  readonly events: readonly OracleEvent[];
  /** Null when the meter has no buckets. */
  readonly division: Division | null;
};

/** The events of a meter that pass the price's own filters, too (docs/domain.md 9.3). */
export function eventsOf(
  meter: OracleMeter,
  filterValues: readonly OracleFilter[],
  events: readonly OracleEvent[],
): readonly OracleEvent[] {
  const narrowed = { ...meter, filters: [...meter.filters, ...filterValues] };
  return events.filter((event) => matches(narrowed, event));
}

/** What a bucket holds for one text of the meter's `group_by`. */
export type GroupValue = { readonly group: string; readonly value: Fraction };
export type BucketUsage = { readonly bucket: Bucket; readonly groups: readonly GroupValue[] };

export function groupsIn(
  { meter }: Measured,
  events: readonly OracleEvent[],
  window: Range,
): readonly GroupValue[] {
  const textOf = (event: OracleEvent): string =>
    meter.groupBy === null ? '' : (propertyOf(event, meter.groupBy) ?? '');
  const texts = [...new Set(events.map(textOf))];
  return texts
    .toSorted((left, right) => (left < right ? -1 : 1))
    .map((group) => {
      const own = events.filter((event) => textOf(event) === group);
      return { group, value: valueOfWindow(meter, own, window) };
    });
}

/**
 * Every bucket of a usage window, also those without events, in time order (docs/domain.md 7.8).
 */
export function bucketUsageIn(measured: Measured, window: Range): readonly BucketUsage[] {
  const { division, events } = measured;
  if (division === null) throw new Error('a meter without buckets');
  const inside = events.filter(
    ({ timestamp }) => timestamp >= window.start && timestamp < window.end,
  );
  const byIdentity = new Map<string, OracleEvent[]>();
  for (const event of inside) {
    const identity = bucketAt(division, event.timestamp);
    byIdentity.set(identity, [...(byIdentity.get(identity) ?? []), event]);
  }
  return bucketsIn(division, window).map((bucket) => ({
    bucket,
    groups: groupsIn(measured, byIdentity.get(bucket.identity) ?? [], window),
  }));
}

/** The quantity of any stretch of time; 0 for an empty one. */
export function quantityIn(measured: Measured, window: Range): Fraction {
  if (measured.division === null) return valueOfWindow(measured.meter, measured.events, window);
  const buckets = bucketUsageIn(measured, window);
  return sum(buckets.flatMap(({ groups }) => groups.map(({ value }) => value)));
}
