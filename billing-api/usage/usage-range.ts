import type { AggregationType } from '../../contract/aggregation.js';
import type { InstantMs, Interval } from '../../contract/instant.js';
import {
  coarserOf,
  windowCountAtLeast,
  windowsWithin,
  type WindowSize,
} from '../domain/calendar/usage-windows.js';
import { hasWholeBuckets } from '../domain/usage/aggregation-spec.js';
import { invalid, isRefusal, type Refusal } from '../records/refusal.js';

/** A month of minutes: an answer of a few megabytes, made in about a tenth of a second. */
const WINDOWS_MAX = 44_640;
/** A year of minutes. */
export const BUCKETS_MAX = 527_040;

/** How a range is cut. */
export type RangeGrid = {
  readonly range: Interval;
  readonly timezone: string;
  readonly anchorMs: InstantMs | null;
};

/** The windows of a range; one with far too many is refused before they are listed. */
function cutRange(
  { range, timezone, anchorMs }: RangeGrid,
  size: WindowSize,
  countMax: number,
): readonly Interval[] | null {
  if (windowCountAtLeast(range, size) > countMax) return null;
  const windows = windowsWithin(range, { size, timezone, anchorMs });
  return windows.length > countMax ? null : windows;
}

/** The windows of an answer; a null size asks for none. */
export function windowsOf(grid: RangeGrid, size: WindowSize | null): readonly Interval[] | Refusal {
  if (size === null) return [];
  const problem = `the range has more than ${WINDOWS_MAX} windows`;
  const windows = cutRange(grid, size, WINDOWS_MAX);
  return (
    windows ?? invalid({ window_size: `${problem}; take a larger window_size or a shorter range` })
  );
}

/** How an answer is cut: its windows, and the buckets whose values add up. */
export type RangeCut = {
  /** Null when no windows are requested. */
  readonly windows: readonly Interval[] | null;
  readonly buckets: readonly Interval[] | null;
};

type Sizes = {
  readonly type: AggregationType;
  readonly windowSize: WindowSize | null;
  readonly bucketSize: WindowSize | null;
};

/**
 * Windows are never shorter than the buckets whose values they show (docs/http.md 10.4). Divisible
 * buckets add up to the same whatever their size, so only whole buckets are cut.
 */
export function cutsOf(grid: RangeGrid, sizes: Sizes): RangeCut | Refusal {
  const { windowSize, bucketSize, type } = sizes;
  const shown =
    windowSize === null || bucketSize === null ? windowSize : coarserOf(windowSize, bucketSize);
  const windows = windowsOf(grid, shown);
  if (isRefusal(windows)) return windows;
  const shownWindows = shown === null ? null : windows;
  const isCut = bucketSize !== null && hasWholeBuckets(type);
  if (!isCut) return { windows: shownWindows, buckets: null };
  const buckets = cutRange(grid, bucketSize, BUCKETS_MAX);
  if (buckets !== null) return { windows: shownWindows, buckets };
  return invalid({
    start_time: `the range has more than ${BUCKETS_MAX} buckets; take a shorter range`,
  });
}
