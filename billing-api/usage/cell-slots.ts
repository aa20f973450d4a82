import { AGGREGATIONS } from '../../contract/aggregation.js';
import type { InstantMs, Interval } from '../../contract/instant.js';
import type { AggregationSpec, UsageSlicing } from '../domain/usage/aggregation-spec.js';

/** Start of the slot before the first window: the history of a meter that never resets. */
export const HISTORY_MS: InstantMs = 0;

/** The starts of the intervals, and the ends after which a gap follows; not the last end. */
function boundsOf(intervals: readonly Interval[]): readonly InstantMs[] {
  const bounds: InstantMs[] = [];
  let endedMs: InstantMs | null = null;
  for (const { startMs, endMs } of intervals) {
    if (endedMs !== null && endedMs !== startMs) bounds.push(endedMs);
    bounds.push(startMs);
    endedMs = endMs;
  }
  return bounds;
}

/**
 * Two ascending lists merged, without duplicates. The usual case is the two ends of a range and the
 * minutes of a month, which include them: then the longer list is the result and nothing is copied.
 */
function merged(left: readonly InstantMs[], right: readonly InstantMs[]): readonly InstantMs[] {
  const [long, short] = left.length > right.length ? [left, right] : [right, left];
  if (short.length < 8 && short.every((bound) => long.includes(bound))) return long;
  const all: InstantMs[] = [];
  let [atLeft, atRight] = [0, 0];
  while (atLeft < left.length || atRight < right.length) {
    const next = Math.min(left[atLeft] ?? Infinity, right[atRight] ?? Infinity);
    all.push(next);
    if (left[atLeft] === next) atLeft += 1;
    if (right[atRight] === next) atRight += 1;
  }
  return all;
}

/** The bounds of all lists together, ascending and without duplicates, except the latest end. */
function commonBoundsOf(lists: readonly (readonly Interval[])[]): readonly InstantMs[] {
  const endOf = (list: readonly Interval[]): InstantMs => list.at(-1)?.endMs ?? -Infinity;
  const endMs = Math.max(...lists.map(endOf));
  return lists
    .map((list) => (endOf(list) < endMs ? [...boundsOf(list), endOf(list)] : boundsOf(list)))
    .reduce(merged, []);
}

/** The windows of each slicing; the range itself for slicings without windows. */
function windowListsOf({ range }: AggregationSpec, slicings: readonly UsageSlicing[]) {
  const isWhole = slicings.some(({ windows }) => windows === null);
  const lists = new Set(slicings.flatMap(({ windows }) => (windows === null ? [] : [windows])));
  return [...(isWhole ? [[range]] : []), ...lists].filter((list) => list.length > 0);
}

/**
 * Where cells are cut in time; null for a single slot. A single slot is enough for a range as a
 * whole, except for a WEIGHTED_SUM with history: changes before the range have another weight than
 * those inside.
 */
export function slotsOf(
  spec: AggregationSpec,
  slicings: readonly UsageSlicing[],
): readonly InstantMs[] | null {
  const { type, resetUsage, buckets } = spec;
  const hasHistory = resetUsage === 'NEVER';
  const hasWindows = slicings.some(({ windows }) => windows !== null);
  const isCut = buckets !== null || hasWindows || (hasHistory && AGGREGATIONS[type].isTimeWeighted);
  if (!isCut) return null;
  const starts =
    buckets === null ? commonBoundsOf(windowListsOf(spec, slicings)) : boundsOf(buckets);
  const [first = HISTORY_MS] = starts;
  return hasHistory && first > HISTORY_MS ? [HISTORY_MS, ...starts] : starts;
}

/** The interval from the first to the last instant that a slicing shows. */
export function intervalOf(spec: AggregationSpec, slicings: readonly UsageSlicing[]): Interval {
  const lists = windowListsOf(spec, slicings);
  if (lists.length === 0) return spec.range;
  return {
    startMs: Math.min(...lists.map(([first]) => first?.startMs ?? Infinity)),
    endMs: Math.max(...lists.map((list) => list.at(-1)?.endMs ?? -Infinity)),
  };
}
