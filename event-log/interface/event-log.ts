import type { InstantMs } from '../../contract/instant.js';
import { assertThat } from '../../runtime/failure.js';

/**
 * One record to append. `partition` is `partitionOf(key)`. The key is stored for tools, and for a
 * copy of the log into another number of partitions.
 */
export type AppendRequest = {
  readonly partition: number;
  readonly key: string;
  /** UTF-8 text; at most `RECORD_BYTES_MAX` bytes. */
  readonly value: string;
};

/** One record as the log stores it. */
export type LogRecord = {
  readonly offset: number;
  /**
   * When the log appended the record, by the log's clock (Kafka: LogAppendTime). Every read gives
   * the same time.
   */
  readonly appendedAtMs: InstantMs;
  /**
   * The text as appended. Bytes that are not UTF-8 are replaced by U+FFFD, so that such a record
   * fails to decode later.
   */
  readonly value: string;
};

/** `[startOffset, endOffset)` are the offsets that can be read now. */
export type LogBounds = { readonly startOffset: number; readonly endOffset: number };

export type ReadRequest = {
  readonly partition: number;
  readonly fromOffset: number;
  readonly recordsMax: number;
  /**
   * Reading stops after the record with which the sum of the value lengths in UTF-8 reaches this
   * number, so at least one record is returned. A read may return fewer records than the bounds
   * allow.
   */
  readonly bytesMax: number;
  /** How long to wait for the first record when there is none yet. */
  readonly waitMs: number;
  /** Ends the wait, as if `waitMs` were over. */
  readonly signal?: AbortSignal;
};

/**
 * The largest value of a record. Those of events have at most 440 Ki characters
 * (`contract/records-of-events.ts`), of three bytes each.
 */
export const RECORD_BYTES_MAX = 2 * 1024 * 1024;

/**
 * Which log this is. The number of partitions is fixed at creation. `logId` changes whenever an
 * offset could be given to a second record.
 */
export type LogIdentity = {
  /** At most 64 characters of `[A-Za-z0-9_-]`; `:` would break the query ids built from it. */
  readonly logId: string;
  readonly partitionCount: number;
  /** Partitions that were added after the log was first opened, and stay empty. */
  readonly unusedPartitions?: number;
  /** What an operator should change about the log, which serves nevertheless. */
  readonly warnings?: readonly string[];
};

/**
 * Checks a record before it is appended.
 * @throws AssertionFailed when the log does not have the partition, or the value is too large.
 */
export function assertAppendable(record: AppendRequest, { partitionCount }: LogIdentity): void {
  const { partition, value } = record;
  assertThat(
    Number.isInteger(partition) && partition >= 0 && partition < partitionCount,
    `the log has no partition ${partition}`,
  );
  // One UTF-16 unit takes three bytes at most, so the bytes of most values need not be counted.
  assertThat(
    value.length * 3 <= RECORD_BYTES_MAX || Buffer.byteLength(value) <= RECORD_BYTES_MAX,
    'a record is larger than RECORD_BYTES_MAX',
  );
}

/** The writing side of the log. */
export interface EventLogWriter {
  readonly identity: LogIdentity;
  /**
   * Resolves when every record is durable (docs/internals/architecture.md I1). Records of one call
   * in the same partition keep their order.
   * @throws DependencyError when the log did not confirm this in time. Some of the records may be
   *   in the log nevertheless.
   */
  append(records: readonly AppendRequest[]): Promise<void>;
  /** Resolves when the log can be reached. @throws DependencyError otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** What a log removes by itself, whether it is counted or not. */
export type LogRemoval = {
  /** How long after its append a record may be removed; null for never. */
  readonly afterMs: number | null;
  /** Whether the oldest records also go when a partition has more than so many bytes. */
  readonly isByBytes: boolean;
};

/**
 * The reading side of the log, by offset. It does not know who owns a partition; the epoch of the
 * checkpoint decides that.
 */
export interface EventLogReader {
  readonly identity: LogIdentity;
  /**
   * Records from `fromOffset` on, in ascending order, with no gap that the log does not have; empty
   * when none arrived in time.
   * @throws OffsetOutOfRange when `fromOffset` is before the start or after the end of the log.
   * @throws DependencyError when the log cannot be read.
   */
  read(request: ReadRequest): Promise<readonly LogRecord[]>;
  bounds(partition: number): Promise<LogBounds>;
  /**
   * The end of every partition at the time of the call or later, by fewer questions than their
   * bounds take.
   * @throws DependencyError when the log does not tell.
   */
  readonly ends: () => Promise<readonly number[]>;
  /**
   * Tells the log that all records below the offset are finished. In Kafka this is the committed
   * offset, which lag tools show.
   */
  commit(partition: number, nextOffset: number): Promise<void>;
  /**
   * Removes records below the offset, all of them finished, that are older than the retention;
   * absent for a log that removes by itself. May be repeated, and broken off by the signal.
   * @throws DependencyError.
   */
  readonly trim?: (partition: number, nextOffset: number, signal: AbortSignal) => Promise<void>;
  /**
   * What the log removes by itself; absent for one that keeps whatever is not finished.
   * @throws DependencyError when the log does not tell.
   */
  readonly removal?: () => Promise<LogRemoval>;
  /** Drops the buffer of a partition that is not read here any more. It may be read again later. */
  release(partition: number): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The log does not have the offset: retention has removed it, or the checkpoint belongs to another
 * log.
 */
export class OffsetOutOfRange extends Error {
  constructor(
    readonly partition: number,
    readonly offset: number,
    readonly bounds: LogBounds,
  ) {
    super(
      `partition ${partition}: offset ${offset} is outside the log's [${bounds.startOffset}, ${bounds.endOffset}]`,
    );
    this.name = 'OffsetOutOfRange';
  }
}
