import type { Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';

/**
 * Which usage of a line must be read before it can be priced. Everything that is asked for is the
 * usage of the line's meter, narrowed by its price's filter values.
 */
export type UsageRequirement = {
  readonly lineItemId: string;
  /** The usage window (domain.md 7.7). */
  readonly window: Interval;
  /**
   * The buckets of a bucketed meter, cut to the window, in the order of time; else null. Where an
   * allowance begins anew inside of a bucket whose parts add up, it is cut there, too.
   */
  readonly buckets: readonly Interval[] | null;
  /**
   * Further intervals whose value decides about an allowance (domain.md 10.2), none of them empty
   * and none twice. They may begin before the window and reach into it. Buckets are cut by them.
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

/** The value of one of the intervals that were asked for. */
export type IntervalUsage = { readonly interval: Interval; readonly usage: Decimal };

/** The aggregated usage of one line over its usage window. */
export type LineUsage = UsageShare & {
  /**
   * Present exactly where the plan names buckets: those with usage, in any order; one that is left
   * out has the value 0.
   */
  readonly buckets: readonly BucketUsage[] | null;
  /** The value of every interval of the plan, in any order. */
  readonly intervals: readonly IntervalUsage[];
  /** Filled when the reader asked for `group_by` source, else empty. */
  readonly bySource: readonly SourceUsage[];
  /** Filled when the reader asked for any other `group_by`, one row per combination of keys. */
  readonly byGrouping: readonly GroupedUsage[];
};
