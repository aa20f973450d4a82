import type { InstantMs } from '../contract/instant.js';
import { assertThat } from '../runtime/failure.js';

/**
 * One record to append. `partition` is `partitionOf(key)`; the key is kept for tools and for
 * re-partitioning.
 */
export type AppendRequest = {
  readonly partition: number;
  readonly key: string;
  /** UTF-8 text; at most `RECORD_BYTES_MAX` bytes. */
  readonly value: string;
};

/** One record as it stands in the log. */
export type LogRecord = {
  readonly offset: number;
  /**
   * When the log appended it, by the log's clock (Kafka: LogAppendTime). The same at every reading.
   */
  readonly appendedAtMs: InstantMs;
  /**
   * UTF-8 text as appended; a record that is not UTF-8 has U+FFFD in it and fails to decode later.
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
   * Reading stops after the record that reaches this sum of value lengths in UTF-8; at least one
   * record is given. Fewer records than the bounds allow may be given at any time.
   */
  readonly bytesMax: number;
  /** How long to wait for a first record when there is none yet. */
  readonly waitMs: number;
  /** Ends the waiting, as if the time were over. */
  readonly signal?: AbortSignal;
};

/**
 * One record value may not be larger; the largest legal bulk request stays far below after it is
 * split.
 */
export const RECORD_BYTES_MAX = 48 * 1024 * 1024;

/**
 * Which log this is: partitions are fixed at creation, and `logId` changes whenever offsets could
 * repeat.
 */
export type LogIdentity = {
  /** At most 64 characters of `[A-Za-z0-9_-]`, without `:`, since query ids are built of it. */
  readonly logId: string;
  readonly partitionCount: number;
};

/**
 * Checks what an append may ask for.
 * @throws AssertionFailed when the partition is not of this log or the value is too large.
 */
export function assertAppendable(record: AppendRequest, { partitionCount }: LogIdentity): void {
  const { partition, value } = record;
  assertThat(
    Number.isInteger(partition) && partition >= 0 && partition < partitionCount,
    `partition ${partition} is not of this log`,
  );
  // One UTF-16 unit takes three bytes at most, so most values need no counting.
  assertThat(
    value.length * 3 <= RECORD_BYTES_MAX || Buffer.byteLength(value) <= RECORD_BYTES_MAX,
    'a record is larger than RECORD_BYTES_MAX',
  );
}

/** The producing side. */
export interface EventLogWriter {
  readonly identity: LogIdentity;
  /**
   * Resolves when every record is durable (invariant I1). Records of one call that share a
   * partition keep their order.
   * @throws DependencyError when that could not be confirmed in time: some of the records may be in
   *   the log all the same.
   */
  append(records: readonly AppendRequest[]): Promise<void>;
  /** Resolves when the log can be reached. @throws DependencyError otherwise. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The consuming side: a reader by offset. Who owns a partition is decided elsewhere, by the
 * checkpoint's epoch.
 */
export interface EventLogReader {
  readonly identity: LogIdentity;
  /**
   * Records at and after `fromOffset`, ascending, without gaps but those of the log itself; empty
   * when none came in time.
   * @throws OffsetOutOfRange when `fromOffset` lies before the start or after the end of the log.
   * @throws DependencyError when the log cannot be read.
   */
  read(request: ReadRequest): Promise<readonly LogRecord[]>;
  bounds(partition: number): Promise<LogBounds>;
  /**
   * Tells the log that everything below the offset is finished. Kafka: the committed offset that
   * lag tools show. Postgres: records below it may be removed once they are older than the
   * retention.
   */
  commit(partition: number, nextOffset: number): Promise<void>;
  /** Stops buffering a partition that is no longer read here; reading it again later is allowed. */
  release(partition: number): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Retention has removed what was asked for, or the log is another one than the checkpoint speaks
 * of.
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
