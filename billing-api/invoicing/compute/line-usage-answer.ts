import type { Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import { assertPresent, mustGet } from '../../../runtime/failure.js';
import type { UsagePart } from '../../domain/usage/aggregation-spec.js';
import type {
  BucketGroup,
  BucketUsage,
  IntervalUsage,
  LineUsage,
} from '../../domain/usage/line-usage.js';
import type { SlicedUsage } from '../../usage/read-usage.js';
import { usageOfGrouping, type Grouping } from '../../usage/usage-grouping.js';
import { withoutOverlap, type LineSlicing, type LineUsageQuery } from './line-usage-query.js';

/** Bounds the memory of shared groups; most minutes have one of a few small counts. */
const KNOWN_GROUPS_MAX = 1_000;

/**
 * Without groups every window is a bucket with one value. Equal small counts share one group, which
 * saves memory for a month of minutes.
 */
function plainBuckets({ windows }: UsagePart): readonly BucketUsage[] {
  const known = new Map<Decimal, readonly [BucketGroup]>();
  const buckets: BucketUsage[] = [];
  for (const { window, value, eventCount } of windows) {
    if (eventCount === 0) continue;
    let groups = known.get(value);
    if (groups?.[0].eventCount !== eventCount) {
      groups = [{ text: '', usage: value, eventCount }];
      if (known.size < KNOWN_GROUPS_MAX) known.set(value, groups);
    }
    const { startMs, endMs } = window;
    buckets.push({ startMs, endMs, groups });
  }
  return buckets;
}

function groupedBuckets(parts: readonly UsagePart[]): readonly BucketUsage[] {
  const buckets = new Map<number, Interval & { readonly groups: BucketGroup[] }>();
  for (const { group: text, windows } of parts) {
    for (const { window, value, eventCount } of windows) {
      if (eventCount === 0) continue;
      const bucket = buckets.get(window.startMs) ?? { ...window, groups: [] };
      bucket.groups.push({ text, usage: value, eventCount });
      buckets.set(window.startMs, bucket);
    }
  }
  return [...buckets.values()];
}

function bucketUsages(
  parts: readonly UsagePart[],
  { meter }: LineUsageQuery,
): readonly BucketUsage[] {
  const [only] = parts;
  if (only === undefined || meter.aggregation.groupBy !== null) return groupedBuckets(parts);
  return plainBuckets(only);
}

function intervalUsages(
  { requirement }: LineUsageQuery,
  sliced: SlicedUsage<LineSlicing>,
): readonly IntervalUsage[] {
  return withoutOverlap(requirement.intervals).flatMap((_, index) => {
    const part = assertPresent(sliced.get(`intervals-${index}`)?.[0], 'the usage of intervals');
    return part.windows.map(({ window, value }) => ({ interval: window, usage: value }));
  });
}

/** The usage of a line from the answer to `usageQueryOfLine`. */
export function usageOfLine(
  line: LineUsageQuery,
  sliced: SlicedUsage<LineSlicing>,
  grouping: Grouping & { readonly featureId: string },
): LineUsage {
  const isBucketed = line.requirement.buckets !== null;
  return {
    ...usageOfGrouping(sliced, grouping),
    buckets: isBucketed
      ? bucketUsages(mustGet(sliced, 'buckets', 'the buckets of a line'), line)
      : null,
    intervals: intervalUsages(line, sliced),
  };
}
