import type { WindowSize } from '../meter.js';
import type { Range } from '../windows.js';

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
