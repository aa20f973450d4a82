import type pg from 'pg';
import { DependencyError } from '../../runtime/failure.js';
import {
  OffsetOutOfRange,
  type EventLogReader,
  type LogBounds,
  type LogIdentity,
  type LogRecord,
  type ReadRequest,
} from '../interface/event-log.js';
import { BoundedRead, RecordBuffer } from '../interface/record-buffer.js';
import { decodeValues } from './batch-text.js';
import { createLogPool, queryLog } from './connection.js';
import { EndWatch, type AllBounds } from './end-watch.js';
import { openPostgresLog } from './identity.js';
import { trimPartition } from './trim-partition.js';

/** How the log is opened for reading. */
export type PostgresReaderOptions = {
  readonly url: string;
  /** For creating the log. For an existing log it must be its number of partitions, or absent. */
  readonly partitionCount?: number | undefined;
  /** How long finished records are kept at least. */
  readonly retentionMs: number;
};

/**
 * How soon a waiting reader looks for records again; the mean delay is half of it. While no record
 * comes the pauses grow, up to a quarter of a second, which the first record may then wait.
 */
const LOOK_PAUSES = { leastMs: 20, mostMs: 250 };
const STATEMENT_TIMEOUT_MS = 15_000;
/** One connection for the polls, one for retention, two for fetches. */
const CONNECTIONS_MAX = 4;
const FETCH_BATCHES_MAX = 1_000;
const FETCH_BYTES_MAX = 4 * 1024 * 1024;

type BoundsRow = {
  readonly log_id: string;
  readonly start_offset: string;
  readonly end_offset: string;
};

type BatchRow = {
  readonly end_offset: string;
  readonly record_count: number;
  readonly appended_at_ms: string;
  readonly lengths: string;
  readonly payload: string;
};

function recordsOf(row: BatchRow): readonly LogRecord[] {
  const appendedAtMs = Number(row.appended_at_ms);
  const first = Number(row.end_offset) - row.record_count;
  return decodeValues(row).map((value, index) => ({ offset: first + index, appendedAtMs, value }));
}

class PostgresLogReader implements EventLogReader {
  readonly #ends: EndWatch;
  readonly #buffers = new Map<number, RecordBuffer<LogRecord>>();

  constructor(
    readonly identity: LogIdentity,
    private readonly pool: pg.Pool,
    private readonly options: PostgresReaderOptions,
  ) {
    this.#ends = new EndWatch(() => this.#fetchBounds(), LOOK_PAUSES);
  }

  async read(request: ReadRequest): Promise<readonly LogRecord[]> {
    const { partition, fromOffset } = request;
    const buffer = this.#bufferAt(partition, fromOffset);
    const read = new BoundedRead(request);
    buffer.moveTo(read);
    if (read.records.length === 0 && !(await this.#hasMore(request))) return [];
    for (;;) {
      const nextOffset = fromOffset + read.records.length;
      const { endOffset } = await this.#ends.latest(partition);
      if (read.isFull || nextOffset >= endOffset) return read.records;
      buffer.add(await this.#fetch(partition, nextOffset));
      buffer.moveTo(read);
    }
  }

  bounds(partition: number): Promise<LogBounds> {
    return this.#ends.current(partition);
  }

  /** A property and not a method, as in the log of Kafka. */
  readonly ends = async (): Promise<readonly number[]> =>
    (await this.#ends.currentOfAll()).map(({ endOffset }) => endOffset);

  /** The checkpoint alone says what is finished. */
  commit(): Promise<void> {
    return Promise.resolve();
  }

  trim(partition: number, nextOffset: number, signal: AbortSignal): Promise<void> {
    const { retentionMs } = this.options;
    return trimPartition(this.pool, { partition, nextOffset, retentionMs, signal });
  }

  release(partition: number): Promise<void> {
    this.#buffers.delete(partition);
    return Promise.resolve();
  }

  async ping(): Promise<void> {
    await queryLog(this.pool, { name: 'ping', text: 'SELECT 1', values: [] });
  }

  async close(): Promise<void> {
    this.#ends.close();
    await this.pool.end();
  }

  /** The partition's buffer, emptied unless it begins at the offset. */
  #bufferAt(partition: number, offset: number): RecordBuffer<LogRecord> {
    const buffer = this.#buffers.get(partition) ?? new RecordBuffer((record: LogRecord) => record);
    this.#buffers.set(partition, buffer);
    if (buffer.firstOffset !== offset) buffer.clear();
    return buffer;
  }

  /** Whether there are records at the offset, at once or after waiting. */
  async #hasMore({ partition, fromOffset, waitMs, signal }: ReadRequest): Promise<boolean> {
    const latest = await this.#ends.latest(partition);
    if (fromOffset >= latest.startOffset && fromOffset < latest.endOffset) return true;
    const current = await this.#ends[waitMs > 0 ? 'beforeWait' : 'current'](partition);
    if (fromOffset < current.startOffset || fromOffset > current.endOffset) {
      throw new OffsetOutOfRange(partition, fromOffset, current);
    }
    if (fromOffset < current.endOffset) return true;
    if (waitMs <= 0) return false;
    await this.#ends.waitWhileAt({ partition, offset: fromOffset, waitMs, signal });
    return fromOffset < (await this.#ends.latest(partition)).endOffset;
  }

  /** One or more records from the offset on, which must be below the end of the log. */
  async #fetch(partition: number, fromOffset: number): Promise<readonly LogRecord[]> {
    const rows = await queryLog<BatchRow>(this.pool, {
      name: 'read',
      text: `SELECT end_offset, record_count, lengths, payload,
                    (extract(epoch FROM appended_at) * 1000)::bigint AS appended_at_ms
             FROM read_event_log($1, $2, $3, $4, $5)`,
      values: [this.identity.logId, partition, fromOffset, FETCH_BATCHES_MAX, FETCH_BYTES_MAX],
    });
    const records = rows.flatMap(recordsOf).filter(({ offset }) => offset >= fromOffset);
    if (records[0]?.offset === fromOffset) return this.#withoutGaps(partition, records);
    const bounds = await this.#ends.current(partition);
    throw new OffsetOutOfRange(partition, fromOffset, bounds);
  }

  /** Offsets are given out without gaps, so a gap means that rows were lost or deleted by hand. */
  #withoutGaps(partition: number, records: readonly LogRecord[]): readonly LogRecord[] {
    const first = records[0]?.offset ?? 0;
    const gap = records.findIndex(({ offset }, index) => offset !== first + index);
    if (gap === -1) return records;
    throw new DependencyError(
      `event log in PostgreSQL: offset ${first + gap} of partition ${partition} is missing`,
      { dependency: 'event-log', isRetryable: false },
    );
  }

  async #fetchBounds(): Promise<AllBounds> {
    const rows = await queryLog<BoundsRow>(this.pool, {
      name: 'bounds',
      text: 'SELECT log_id, start_offset, end_offset FROM event_log_bounds()',
      values: [],
    });
    const logId = rows[0]?.log_id ?? 'none';
    if (logId !== this.identity.logId || rows.length !== this.identity.partitionCount) {
      throw new DependencyError(
        `event log in PostgreSQL: its id changed from ${this.identity.logId} to ${logId}: restart the program`,
        { dependency: 'event-log', isRetryable: false },
      );
    }
    return rows.map((row) => ({
      startOffset: Number(row.start_offset),
      endOffset: Number(row.end_offset),
    }));
  }
}

/**
 * Opens the log in PostgreSQL for reading, and creates it when there is none.
 * @throws DependencyError when the server cannot be reached.
 * @throws ConfigError when the log has another number of partitions than `partitionCount`.
 */
export async function openPostgresReader(options: PostgresReaderOptions): Promise<EventLogReader> {
  const pool = createLogPool({
    url: options.url,
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    const identity = await openPostgresLog(pool, options.partitionCount);
    return new PostgresLogReader(identity, pool, options);
  } catch (error) {
    await pool.end();
    throw error;
  }
}
