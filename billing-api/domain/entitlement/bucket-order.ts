import type { BucketGroup, BucketUsage } from '../usage/line-usage.js';

function isAscending<T>(items: readonly T[], isBefore: (left: T, right: T) => boolean): boolean {
  return items.every((item, index) => {
    const previous = items[index - 1];
    return previous === undefined || isBefore(previous, item);
  });
}

function inTextOrder(groups: readonly BucketGroup[]): readonly BucketGroup[] {
  if (isAscending(groups, (left, right) => left.text < right.text)) return groups;
  return [...groups].sort((left, right) => (left.text < right.text ? -1 : 1));
}

/**
 * Sorts buckets by time and the groups of each by their texts, by code units (docs/domain.md 10.2).
 * Returns the same list when it is sorted already, as it usually is.
 */
export function inBucketOrder(buckets: readonly BucketUsage[]): readonly BucketUsage[] {
  const isInOrder = isAscending(buckets, (left, right) => left.startMs < right.startMs);
  const inTime = isInOrder ? buckets : [...buckets].sort((a, b) => a.startMs - b.startMs);
  if (inTime.every(({ groups }) => groups.length <= 1)) return inTime;
  return inTime.map((bucket) => ({ ...bucket, groups: inTextOrder(bucket.groups) }));
}
