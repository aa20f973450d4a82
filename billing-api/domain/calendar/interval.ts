import type { Interval } from '../../../contract/instant.js';

/** An interval cut to another one, with which it has an instant in common; mostly it is itself. */
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
