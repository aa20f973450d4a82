import type { Interval } from '../../contract/instant.js';
import type { EffectiveMeter } from '../catalog/meters/effective-meters.js';
import type { AggregationSpec } from '../domain/usage/aggregation-spec.js';

/** How a meter aggregates a range; `buckets` are those whose values add up, or null. */
export function specOfMeter(
  { aggregation, resetUsage }: Pick<EffectiveMeter, 'aggregation' | 'resetUsage'>,
  range: Interval,
  buckets: readonly Interval[] | null,
): AggregationSpec {
  const { type, groupBy } = aggregation;
  return { type, resetUsage, range, buckets, hasGroups: groupBy !== null };
}
