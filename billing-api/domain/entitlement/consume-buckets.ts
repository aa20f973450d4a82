import { ZERO, minOf, type Decimal } from '../../../contract/number/decimal.js';
import type { BucketUsage } from '../usage/line-usage.js';

/** Buckets after an allowance was taken from them. */
export type ConsumedBuckets = {
  readonly left: readonly BucketUsage[];
  /** The usage of the buckets before the allowance. */
  readonly usage: Decimal;
};

function usageOf({ groups }: BucketUsage): Decimal {
  return groups.reduce((sum, { usage }) => sum.plus(usage), ZERO);
}

/**
 * Takes a free quantity from buckets in the order of time, and from groups in the order of their
 * texts; the rest of each is priced by itself (docs/domain.md 10.2). The buckets must be sorted.
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
