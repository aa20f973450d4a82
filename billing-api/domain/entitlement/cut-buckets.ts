import type { InstantMs, Interval } from '../../../contract/instant.js';
import { hasWholeBuckets } from '../usage/aggregation-spec.js';
import type { BucketGroup, BucketUsage } from '../usage/line-usage.js';
import type { LineMeter } from '../usage/line-meter.js';
import type { LineAllowance } from './line-allowance.js';

/** A bucketed line and its allowance. */
type AllowedLine = {
  readonly meter: LineMeter;
  readonly period: Interval;
  readonly allowance: LineAllowance | null;
};

/**
 * The instants inside a line's period at which its allowance resets (docs/domain.md 10.2). A bucket
 * that contains one is cut there, so that each allowance covers the usage of its own reset window.
 * The value of a whole bucket, as of a MAX, cannot be divided: it belongs to the reset window in
 * which the bucket begins.
 */
export function bucketCutsOf({ meter, period, allowance }: AllowedLine): readonly InstantMs[] {
  if (hasWholeBuckets(meter.aggregationType)) return [];
  if (allowance === null) return [];
  return allowance.windows
    .map(({ window }) => window.startMs)
    .filter((startMs) => period.startMs < startMs && startMs < period.endMs);
}

/** Buckets cut at instants; both in the order of time. */
export function cutBuckets(
  buckets: readonly Interval[],
  cuts: readonly InstantMs[],
): readonly Interval[] {
  if (cuts.length === 0) return buckets;
  let next = 0;
  return buckets.flatMap(({ startMs, endMs }) => {
    const edges = [startMs];
    for (let cut = cuts[next]; cut !== undefined && cut < endMs; cut = cuts[next]) {
      if (cut > startMs) edges.push(cut);
      next += 1;
    }
    return edges.map((edge, index) => ({ startMs: edge, endMs: edges[index + 1] ?? endMs }));
  });
}

function sumOfGroups(left: BucketGroup, right: BucketGroup): BucketGroup {
  const eventCount = left.eventCount + right.eventCount;
  return { text: left.text, usage: left.usage.plus(right.usage), eventCount };
}

function addGroups(
  left: readonly BucketGroup[],
  right: readonly BucketGroup[],
): readonly BucketGroup[] {
  const byText = new Map(left.map((group) => [group.text, group]));
  for (const group of right) {
    const known = byText.get(group.text);
    byText.set(group.text, known === undefined ? group : sumOfGroups(known, group));
  }
  return [...byText.values()].sort((one, other) => (one.text < other.text ? -1 : 1));
}

/**
 * Joins the parts of cut buckets. Parts and result are sorted; `bucketAt` returns the bucket that
 * contains an instant, cut to the usage window.
 */
export function joinBuckets(
  parts: readonly BucketUsage[],
  cuts: readonly InstantMs[],
  bucketAt: (instant: InstantMs) => Interval,
): readonly BucketUsage[] {
  if (cuts.length === 0) return parts;
  const edges = new Set(cuts);
  const joined: BucketUsage[] = [];
  for (const part of parts) {
    const { startMs, endMs, groups } = part;
    const isCut = edges.has(startMs) || edges.has(endMs);
    const bucket = isCut ? bucketAt(startMs) : { startMs, endMs };
    const last = joined.at(-1);
    if (last?.startMs === bucket.startMs) {
      joined[joined.length - 1] = { ...last, groups: addGroups(last.groups, groups) };
    } else joined.push({ ...bucket, groups });
  }
  return joined;
}
