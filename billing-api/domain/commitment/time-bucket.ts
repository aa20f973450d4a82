import { windowMinutesOf, type WindowSize } from '../calendar/usage-windows.js';
import type { CommitmentTimeBucket } from './commitment.js';

export const MINUTES_OF_DAY = 1440;

/**
 * Whether a time bucket contains a minute of the local day. A bucket whose start is later than its
 * end spans midnight: 22:00 to 06:00 is 22:00 to 24:00 and 00:00 to 06:00 (docs/domain.md 11.5).
 */
function contains({ startMinute, endMinute }: CommitmentTimeBucket, minute: number): boolean {
  if (startMinute < endMinute) return startMinute <= minute && minute < endMinute;
  return minute >= startMinute || minute < endMinute;
}

/** The time bucket of every minute of the local day; null for minutes in none. */
export function bucketsByMinute(
  buckets: readonly CommitmentTimeBucket[],
): readonly (CommitmentTimeBucket | null)[] {
  return Array.from({ length: MINUTES_OF_DAY }, (_, minute) => {
    return buckets.find((bucket) => contains(bucket, minute)) ?? null;
  });
}

/**
 * The nominal start minute of the slot that contains a minute of the local day. It is nominal where
 * a clock change skips it: a DAY whose midnight does not exist still starts at minute 0.
 */
export function slotMinuteOf(minute: number, size: WindowSize): number {
  // A window of a DAY or longer is one slot.
  const slotMinutes = Math.min(MINUTES_OF_DAY, windowMinutesOf(size));
  return minute - (minute % slotMinutes);
}
