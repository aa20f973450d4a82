import type { Interval } from '../../../contract/instant.js';

/** The part of an interval inside another one; the two must overlap. */
export function cutTo(interval: Interval, { startMs, endMs }: Interval): Interval {
  if (interval.startMs >= startMs && interval.endMs <= endMs) return interval;
  return { startMs: Math.max(interval.startMs, startMs), endMs: Math.min(interval.endMs, endMs) };
}

/** The common part of two half-open intervals; null when they have no instant in common. */
export function overlapOf(left: Interval, right: Interval): Interval | null {
  const startMs = Math.max(left.startMs, right.startMs);
  const endMs = Math.min(left.endMs, right.endMs);
  return startMs < endMs ? { startMs, endMs } : null;
}
