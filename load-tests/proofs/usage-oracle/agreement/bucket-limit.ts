import type { WindowSize } from '../meter.js';
import { SLOT_MINUTES, type Range } from '../windows.js';

/** A minute each of a leap year; ranges of more buckets are refused, and not asked for. */
const BUCKETS_MAX = 527_040;
const DAY_MINUTES = 1440;
const LONGER_MINUTES: Partial<Record<WindowSize, number>> = { WEEK: 10_080, MONTH: 43_200 };

/** Whether the product divides so long a range into such buckets, with room for clock changes. */
export function isRangeSupported({ start, end }: Range, bucketSize: WindowSize | null): boolean {
  if (bucketSize === null) return true;
  const bucketsMax = BUCKETS_MAX - 200;
  const minutes = SLOT_MINUTES[bucketSize] ?? LONGER_MINUTES[bucketSize] ?? DAY_MINUTES;
  return (end - start) / (minutes * 60_000) < bucketsMax;
}
