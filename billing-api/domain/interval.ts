import type { Interval } from '../../contract/instant.js';

/** The common part of two half-open intervals; null when they have no instant in common. */
export function overlapOf(left: Interval, right: Interval): Interval | null {
  const startMs = Math.max(left.startMs, right.startMs);
  const endMs = Math.min(left.endMs, right.endMs);
  return startMs < endMs ? { startMs, endMs } : null;
}
