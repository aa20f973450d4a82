import type { AggregationType } from '../../../contract/aggregation.js';
import type { Decimal } from '../../../contract/decimal.js';
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
   * Range and windows cut into the buckets whose values add up (domain.md 7.8), in the order of
   * time; null for one aggregation.
   * Only with COUNT, SUM and MAX and reset_usage BILLING_PERIOD.
   */
  readonly buckets: readonly Interval[] | null;
  /** Whether buckets are cut further by the meter's property: one value per bucket and text. */
  readonly hasGroups: boolean;
};

/** By what the rows of a view are told apart. */
export type UsageSplit = {
  readonly source: boolean;
  /** The meter's own `group_by` property. */
  readonly group: boolean;
  /** Property keys. */
  readonly properties: readonly string[];
};
export const NO_SPLIT: UsageSplit = { source: false, group: false, properties: [] };

/** One way to look at a scope. */
export type UsageSlicing = {
  /**
   * In the order of time, without overlap; null for the range as one window. Where nothing is
   * carried over (reset_usage BILLING_PERIOD) they may leave gaps and lie outside of the range.
   */
  readonly windows: readonly Interval[] | null;
  readonly split: UsageSplit;
};

/** What the rows of a split have in common. Empty texts where the split does not ask. */
export type UsageKey = {
  readonly source: string;
  readonly group: string;
  /** In the order of the split's properties; empty text for an event without the property. */
  readonly texts: readonly string[];
};

/**
 * What the store answers of one key: cells beside the slots of time that they are of, in any order.
 * Several series may be of one key, and of the same slots: their cells add up. A month of minutes
 * is two lists, and not 43,200 objects with keys.
 */
export type CellSeries = UsageKey & {
  readonly slots: readonly InstantMs[];
  readonly cells: readonly WindowCell[];
};

export type Figures = {
  readonly value: Decimal;
  /** Events that the value is of; of a meter that never resets, all of its history. */
  readonly eventCount: number;
  readonly unreadableCount: number;
};
export type WindowFigures = Figures & { readonly window: Interval };

/** The rows of one key, in the order of time. */
export type UsagePart = UsageKey & { readonly windows: readonly WindowFigures[] };

export function isSplit({ source, group, properties }: UsageSplit): boolean {
  return source || group || properties.length > 0;
}

/** Aggregations whose cells add up over any time and key; texts may be the same in two cells. */
export function areCellsAdditive(type: AggregationType): boolean {
  return type !== 'COUNT_UNIQUE';
}
