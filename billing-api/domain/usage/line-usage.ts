import type { Decimal } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { WindowGrid } from '../calendar/usage-windows.js';

/**
 * The usage of a line that must be read before the line can be priced: usage of its meter, narrowed
 * by the filter values of its price.
 */
export type UsageRequirement = {
  readonly lineItemId: string;
  /** The usage window (docs/domain.md 7.7). */
  readonly window: Interval;
  /** How the meter cuts time into buckets; null without buckets. */
  readonly bucketGrid: WindowGrid | null;
  /**
   * The buckets of a bucketed meter, cut to the window, in the order of time; else null. A bucket
   * whose parts add up is also cut where its allowance resets.
   */
  readonly buckets: readonly Interval[] | null;
  /**
   * Further intervals whose usage an allowance depends on (docs/domain.md 10.2), not empty and
   * without duplicates. They may begin before the window and reach into it.
   */
  readonly intervals: readonly Interval[];
};

/** A part of a line's usage: one source, or one combination of the requested groupings. */
export type UsageShare = {
  readonly usage: Decimal;
  readonly eventCount: number;
};
export type SourceUsage = UsageShare & { readonly source: string };
export type GroupedUsage = UsageShare & { readonly groupedBy: Readonly<Record<string, string>> };

/** The value of one group of a bucket; the empty text for events without the property. */
export type BucketGroup = UsageShare & { readonly text: string };

/** A bucket with its groups; a meter without `group_by` has one group, of the empty text. */
export type BucketUsage = Interval & { readonly groups: readonly BucketGroup[] };

/** The usage of one of the required intervals. */
export type IntervalUsage = { readonly interval: Interval; readonly usage: Decimal };

/** The aggregated usage of one line over its usage window. */
export type LineUsage = UsageShare & {
  /**
   * The buckets with usage, in any order; a bucket that is left out has the value 0. Null exactly
   * when no buckets are required.
   */
  readonly buckets: readonly BucketUsage[] | null;
  /** The usage of every required interval, in any order. */
  readonly intervals: readonly IntervalUsage[];
  /** Filled when the request has `group_by` source, else empty. */
  readonly bySource: readonly SourceUsage[];
  /** Filled when the request has any other `group_by`: one row per combination of values. */
  readonly byGrouping: readonly GroupedUsage[];
};
