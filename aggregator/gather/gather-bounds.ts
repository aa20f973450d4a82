import type { GatherBounds } from './decoded-records.js';

/** Settings of a process. */
export type FlushLimits = {
  /** Events that a process gathers at a time, in all its partitions together. */
  readonly eventsMax: number;
  /** The least time from one flush to the next. */
  readonly flushDelayMs: number;
};

/** A partition may always gather so many events: smaller batches cost too much. */
const EVENTS_MIN = 1_000;
/**
 * Bytes of record values that a process gathers at a time; its rows and their texts take about four
 * times as much.
 */
const BYTES_MAX = 64 * 1024 * 1024;
/** The least that a partition may gather. One record is read whatever its size. */
const BYTES_MIN = 1024 * 1024;
const PARTITION_BYTES_MAX = 16 * 1024 * 1024;

/** What one of so many partitions may gather for its next batch. */
export function boundsOfPartition(eventsMax: number, partitions: number): GatherBounds {
  const shares = Math.max(1, partitions);
  const bytes = Math.floor(BYTES_MAX / shares);
  return {
    eventsMax: Math.min(eventsMax, Math.max(EVENTS_MIN, Math.floor(eventsMax / shares))),
    bytesMax: Math.max(BYTES_MIN, Math.min(PARTITION_BYTES_MAX, bytes)),
  };
}

/**
 * Characters that the usage rows of all batches of a process may have together. 500,000 rows fit
 * when ids of customers and values of groups are short, and fewer when they are long.
 */
const CHARACTERS_MAX = 256 * 1024 * 1024;
const CHARACTERS_MIN = 4 * 1024 * 1024;

/** How much text the usage rows of a batch may have, for one of so many partitions. */
export function charactersOfPartition(partitions: number): number {
  return Math.max(CHARACTERS_MIN, Math.floor(CHARACTERS_MAX / Math.max(1, partitions)));
}
