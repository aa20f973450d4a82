import type { AggregationType, MeterAggregation } from '../../../contract/aggregation.js';
import type { MeterFilter } from '../../../contract/meter.js';
import type { WindowSize } from '../calendar/usage-windows.js';
import type { ResetUsage } from './aggregation-spec.js';

/** Where the value of an event comes from (docs/domain.md 7.5). */
export type MeterValue = Pick<MeterAggregation, 'field' | 'expression' | 'multiplier'>;

/** The meter of a usage line as it stands when the invoice is computed. */
export type LineMeter = {
  readonly id: string;
  readonly version: number;
  readonly displayName: string;
  readonly eventName: string;
  readonly aggregationType: AggregationType;
  /** What the aggregation reads of an event, as the meter names it. */
  readonly eventValue: MeterValue;
  readonly filters: readonly MeterFilter[];
  readonly resetUsage: ResetUsage;
  /** Cuts the usage window into buckets; null without buckets. */
  readonly bucketSize: WindowSize | null;
  /** Property by whose text every bucket is split into groups; only with `bucketSize`. */
  readonly groupBy: string | null;
  /** Tiers and packages run over all buckets of a line; absent where they begin anew in each. */
  readonly isPricedOverPeriod?: boolean;
};
