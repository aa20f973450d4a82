import { ZERO, minOf, type Decimal } from '../../../contract/decimal.js';
import type { BucketUsage } from '../usage/line-usage.js';

/** What an allowance leaves of buckets. */
export type ConsumedBuckets = {
  readonly left: readonly BucketUsage[];
  /** All that was in the buckets, free or not. */
  readonly usage: Decimal;
};

function usageOf({ groups }: BucketUsage): Decimal {
  return groups.reduce((sum, { usage }) => sum.plus(usage), ZERO);
}

/**
 * Takes a free quantity from buckets in the order of time, groups in the order of their texts; what
 * remains of each is priced by itself (domain.md 10.2). The buckets are in bucket order.
 */
export function consumeBuckets(buckets: readonly BucketUsage[], free: Decimal): ConsumedBuckets {
  let remaining = free;
  let usage = ZERO;
  const left = buckets.map((bucket) => {
    usage = usage.plus(usageOf(bucket));
    if (remaining.isZero()) return bucket;
    const groups = bucket.groups.map((group) => {
      const taken = minOf(remaining, group.usage);
      remaining = remaining.minus(taken);
      return { ...group, usage: group.usage.minus(taken) };
    });
    return { ...bucket, groups };
  });
  return { left, usage };
}
