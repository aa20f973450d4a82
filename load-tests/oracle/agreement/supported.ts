import { AGGREGATION_TYPES, type AggregationType, type WindowSize } from '../meter.js';
import type { Range } from '../windows.js';

/** What the product answers today; cases are generated for everything and the rest is left out. */
export const SUPPORTED_TYPES: readonly AggregationType[] = AGGREGATION_TYPES;
/**
 * Types whose meters may be created when events are stored: a backfill counts no values yet, and
 * divides nothing by `group_by`.
 */
export const BACKFILLED_TYPES: readonly AggregationType[] = ['COUNT'];
export const IS_GROUPING_BACKFILLED: boolean = false;
export const IS_AD_HOC_USAGE_SUPPORTED: boolean = false;
/**
 * Events and questions after this instant are left out: 2200 when everything is right. A backfill
 * counts events from 2106-02-07T06:28:16Z on in minutes that are 2^32 seconds too early.
 */
export const SUPPORTED_UNTIL: number = Date.parse('2106-02-01T00:00:00Z');

/**
 * Texts of 10^39 and above: nothing says whether the text or the product with `multiplier` has to
 * stay below, and the two differ.
 */
export const ARE_HUGE_TEXTS_AGREED: boolean = false;

/** A minute each of a leap year; ranges of more buckets are refused, and not asked for. */
const BUCKETS_MAX = 527_040;
const BUCKET_MINUTES: Readonly<Record<WindowSize, number>> = {
  MINUTE: 1,
  '15MIN': 15,
  '30MIN': 30,
  HOUR: 60,
  '3HOUR': 180,
  '6HOUR': 360,
  '12HOUR': 720,
  DAY: 1440,
  WEEK: 10_080,
  MONTH: 43_200,
};

/** Whether the product divides so long a range into such buckets, with room for clock changes. */
export function isRangeSupported({ start, end }: Range, bucketSize: WindowSize | null): boolean {
  if (bucketSize === null) return true;
  const bucketsMax = BUCKETS_MAX - 200;
  return (end - start) / (BUCKET_MINUTES[bucketSize] * 60_000) < bucketsMax;
}
