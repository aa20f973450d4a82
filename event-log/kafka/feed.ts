import type { LogRecord, ReadRequest } from '../interface/event-log.js';
import { BoundedRead, RecordBuffer } from '../interface/record-buffer.js';
import type { RdKafkaMessage } from './rdkafka.js';

const FETCHED_BYTES_MAX = 12 * 1024 * 1024;
/** A share is not made smaller than this, because a pause throws away what was prefetched. */
const FETCHED_BYTES_MIN = 1024 * 1024;

/**
 * Bytes that a partition may have fetched before they are read: an equal part for each partition of
 * the log. Partitions that other processes read have a part too, so that nothing depends on the
 * order in which partitions are taken.
 */
export function fetchedBytesOf(partitions: number): number {
  return Math.max(FETCHED_BYTES_MIN, FETCHED_BYTES_MAX / Math.max(1, partitions));
}

/** The records of one partition that were fetched and not read yet. */
export class PartitionFeed {
  /** Bytes as they were fetched: as texts they would lie in the heap, which grows by a multiple. */
  readonly #buffer = new RecordBuffer(recordOf);
  #bufferedBytes = 0;
  #wake: (() => void) | null = null;
  /** Whether fetching is stopped until the buffer has shrunk. */
  isPaused = false;
  /** When the read position was last known to be inside the log. */
  checkedAtMs = performance.now();

  /**
   * @param readOffset the offset that the next read is expected to ask for.
   * @param fetchOffset the offset of the next record that may be added.
   */
  constructor(
    public readOffset: number,
    private fetchOffset: number = readOffset,
  ) {}

  /** Whether it holds more than its share and is still being fetched. */
  shouldPause(bytesMax: number): boolean {
    return !this.isPaused && this.#bufferedBytes > bytesMax;
  }

  /** Whether it was paused and has been read down to a quarter of its share. */
  shouldResume(bytesMax: number): boolean {
    return this.isPaused && this.#bufferedBytes <= bytesMax / 4;
  }

  /**
   * Adds fetched records. Records below the expected offset were added before and are dropped: the
   * driver may give them again after a pause.
   */
  add(messages: readonly RdKafkaMessage[]): void {
    const fresh = messages.filter(({ offset }) => offset >= this.fetchOffset);
    const last = fresh.at(-1);
    if (last === undefined) return;
    this.fetchOffset = last.offset + 1;
    this.#buffer.add(fresh.map(fetchedOf));
    for (const { value } of fresh) this.#bufferedBytes += value?.length ?? 0;
    this.checkedAtMs = performance.now();
    this.#wake?.();
  }

  /** Takes buffered records up to the bounds of the request. */
  take(request: ReadRequest): readonly LogRecord[] {
    const read = new BoundedRead(request);
    this.#buffer.moveTo(read);
    this.#bufferedBytes -= read.bytes;
    const last = read.records.at(-1);
    if (last !== undefined) this.readOffset = last.offset + 1;
    // Bytes that are not UTF-8 have another length after decoding, so the sum could drift.
    if (this.#buffer.firstOffset === null) this.#bufferedBytes = 0;
    return read.records;
  }

  /** Resolves when records are added, `wake` is called, the time is over or the signal aborts. */
  async wait(waitMs: number, signal?: AbortSignal): Promise<void> {
    if (this.#buffer.firstOffset !== null || waitMs <= 0 || signal?.aborted === true) return;
    let timer: NodeJS.Timeout | undefined;
    const wake = (): void => {
      this.wake();
    };
    signal?.addEventListener('abort', wake, { once: true });
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, waitMs);
    });
    clearTimeout(timer);
    signal?.removeEventListener('abort', wake);
    this.#wake = null;
  }

  wake(): void {
    this.#wake?.();
  }
}

type Fetched = Omit<LogRecord, 'value'> & { readonly value: Buffer | null };

/** Every record of the topic has LogAppendTime, which is checked when the log is opened. */
function fetchedOf({ offset, timestamp = 0, value }: RdKafkaMessage): Fetched {
  return { offset, appendedAtMs: timestamp, value };
}

function recordOf({ offset, appendedAtMs, value }: Fetched): LogRecord {
  return { offset, appendedAtMs, value: value?.toString('utf8') ?? '' };
}
