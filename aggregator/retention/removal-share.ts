import type { InstantMs } from '../../contract/instant.js';
import type { LogRemoval } from '../../event-log/interface/event-log.js';

/** A partition of the log at one moment. */
export type PartitionLook = {
  readonly atMs: InstantMs;
  readonly startOffset: number;
  readonly endOffset: number;
  /** The first record that is not counted. */
  readonly nextOffset: number;
  /** When the log appended the last batch that is counted; null when there was none. */
  readonly lastAppendedMs: InstantMs | null;
};

const waits = ({ nextOffset, endOffset }: PartitionLook): boolean => nextOffset < endOffset;

/**
 * How much of the time, or of the room, that the log keeps a record the oldest one that is not
 * counted has used: at 1 it may be removed. 0 while nothing waits. A record counts as waiting when
 * it does so at two looks: then it is at most as old as the last batch before it.
 */
export function removalShare(
  before: PartitionLook | null,
  now: PartitionLook,
  { afterMs, isByBytes }: LogRemoval,
): number {
  if (before === null || !waits(before) || !waits(now)) return 0;
  const sinceMs = now.lastAppendedMs ?? before.atMs;
  const ofTime = afterMs === null ? 0 : (now.atMs - sinceMs) / Math.max(1, afterMs);
  // Once a log that is bounded by bytes has removed its first record, it goes on with each new one.
  const { startOffset, nextOffset, endOffset } = now;
  const isFull = isByBytes && startOffset > 0;
  const ofRoom = isFull ? (endOffset - nextOffset) / (endOffset - startOffset) : 0;
  return Math.max(0, ofTime, ofRoom);
}
