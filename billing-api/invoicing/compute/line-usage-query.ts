import type { Interval } from '../../../contract/instant.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { windowsWithin } from '../../domain/calendar/usage-windows.js';
import type { LineItem } from '../../domain/invoice/line-item.js';
import {
  hasWholeBuckets,
  NO_SPLIT,
  type UsageSlicing,
} from '../../domain/usage/aggregation-spec.js';
import type { UsageRequirement } from '../../domain/usage/line-usage.js';
import { filtersOfPrice } from '../../subscriptions/lines/line-item-from-row.js';
import { specOfMeter } from '../../usage/aggregation-of-meter.js';
import { subjectOf } from '../../usage/store/cell-query.js';
import type { UsageQuery } from '../../usage/read-usage.js';
import {
  slicingsOfGrouping,
  type Grouping,
  type GroupingSlicing,
} from '../../usage/usage-grouping.js';

/** A line whose usage is read. */
export type LineUsageQuery = {
  readonly requirement: UsageRequirement;
  readonly lineItem: LineItem;
  readonly meter: EffectiveMeter;
};

/** Names of what an invoice reads of a line; intervals that overlap are in different lists. */
export type LineSlicing = GroupingSlicing | 'buckets' | `intervals-${number}`;

/** Distributes intervals over lists without overlap, in the order of time: one slicing per list. */
export function withoutOverlap(intervals: readonly Interval[]): readonly (readonly Interval[])[] {
  const lists: Interval[][] = [];
  for (const interval of intervals.toSorted((a, b) => a.startMs - b.startMs)) {
    const list = lists.find((one) => (one.at(-1)?.endMs ?? -Infinity) <= interval.startMs);
    if (list === undefined) lists.push([interval]);
    else list.push(interval);
  }
  return lists;
}

/** The buckets of an interval, cut to it (docs/domain.md 7.8). */
function bucketsOf(interval: Interval, { requirement }: LineUsageQuery): readonly Interval[] {
  const { bucketGrid } = requirement;
  return bucketGrid === null ? [] : windowsWithin(interval, bucketGrid);
}

/**
 * The buckets to add up when their values cannot be divided (docs/domain.md 7.8); null for other
 * buckets, whose sum is the same however they are cut. The further intervals of a bucketed line end
 * before the usage window and do not overlap, so each is cut into buckets by itself.
 */
function addedBuckets(line: LineUsageQuery): readonly Interval[] | null {
  const { requirement, meter } = line;
  if (requirement.buckets === null || !hasWholeBuckets(meter.aggregation.type)) return null;
  const earlier = withoutOverlap(requirement.intervals).flat();
  return [...earlier.flatMap((interval) => bucketsOf(interval, line)), ...requirement.buckets];
}

function slicingsOf(
  { requirement, meter }: LineUsageQuery,
  grouping: Grouping,
): ReadonlyMap<LineSlicing, UsageSlicing> {
  const slicings = new Map<LineSlicing, UsageSlicing>(slicingsOfGrouping(grouping));
  const group = meter.aggregation.groupBy !== null;
  if (requirement.buckets !== null) {
    slicings.set('buckets', { windows: requirement.buckets, split: { ...NO_SPLIT, group } });
  }
  for (const [index, windows] of withoutOverlap(requirement.intervals).entries()) {
    slicings.set(`intervals-${index}`, { windows, split: NO_SPLIT });
  }
  return slicings;
}

/** What to read of a line. All of it comes from one reading of the usage tables. */
export function usageQueryOfLine(
  line: LineUsageQuery,
  grouping: Grouping,
): UsageQuery<LineSlicing> {
  const { requirement, lineItem, meter } = line;
  return {
    subject: subjectOf(meter),
    spec: specOfMeter(meter, requirement.window, addedBuckets(line)),
    narrowedBy: filtersOfPrice(lineItem),
    sources: null,
    slicings: slicingsOf(line, grouping),
  };
}
