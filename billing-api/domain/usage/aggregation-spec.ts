import { AGGREGATIONS, type AggregationType } from '../../../contract/aggregation.js';
import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { WindowCell } from './window-cell.js';

export type ResetUsage = 'BILLING_PERIOD' | 'NEVER';

/** What is aggregated, and how: a meter's rule over one range of time. */
export type AggregationSpec = {
  readonly type: AggregationType;
  readonly resetUsage: ResetUsage;
  /** The usage window; half-open, exact to the millisecond. */
  readonly range: Interval;
  /**
   * The buckets whose values add up (docs/domain.md 7.8), in the order of time; null for a single
   * aggregation. Only with types that may have buckets and with reset_usage BILLING_PERIOD.
   */
  readonly buckets: readonly Interval[] | null;
  /** Whether buckets are split by the meter's `group_by`: one value per bucket and group. */
  readonly hasGroups: boolean;
};

/** What rows are split by. */
export type UsageSplit = {
  readonly source: boolean;
  /** The meter's own `group_by` property. */
  readonly group: boolean;
  /** Property keys. */
  readonly properties: readonly string[];
};
export const NO_SPLIT: UsageSplit = { source: false, group: false, properties: [] };

/** How an aggregation is cut: into which windows, and split by what. */
export type UsageSlicing = {
  /**
   * In the order of time, without overlap; null for the range as one window. With reset_usage
   * BILLING_PERIOD they may leave gaps and lie outside the range.
   */
  readonly windows: readonly Interval[] | null;
  readonly split: UsageSplit;
};

/** The values that identify one row of a split; empty texts for what is not split by. */
export type UsageKey = {
  readonly source: string;
  readonly group: string;
  /** In the order of the split's properties; empty text for an event without the property. */
  readonly texts: readonly string[];
};

/**
 * The cells of one key and the slots that they belong to, in any order. There may be several series
 * of one key, also with the same slots; their cells add up. Two lists, because one object with a
 * key for each of the 43,200 minutes of a month would be far larger.
 */
export type CellSeries = UsageKey & {
  readonly slots: readonly InstantMs[];
  readonly cells: readonly WindowCell[];
};

export type Figures = {
  readonly value: Decimal;
  /** Events that the value was computed from; with reset_usage NEVER, all of the history. */
  readonly eventCount: number;
  readonly unreadableCount: number;
};
export type WindowFigures = Figures & { readonly window: Interval };

/** The rows of one key, in the order of time. */
export type UsagePart = UsageKey & { readonly windows: readonly WindowFigures[] };

export function isSplit({ source, group, properties }: UsageSplit): boolean {
  return source || group || properties.length > 0;
}

/**
 * Whether the value of a bucket, as of a MAX, cannot be divided (docs/domain.md 7.8). The values of
 * other buckets add up to the same however they are cut.
 */
export function hasWholeBuckets(type: AggregationType): boolean {
  return AGGREGATIONS[type].buckets === 'whole';
}
